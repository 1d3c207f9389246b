"""A decision service: decide now, reward later, and nothing that was acknowledged is lost.

It is a `Bandit`, or a `PairBandit` where each event offers its own actions, with a journal and HTTP around it. `http`
parses and checks a request once, into a typed value. One of the `operations` applies it to the state in `domain`. The
`journal` makes it durable, and then it is answered.

| room | what is decided there |
|---|---|
| `config` | what a project is, how its file is read, the identity of a storage folder |
| `journal` | entries in their order, group commit, files |
| `domain` | the state that the entries add up to |
| `operations` | decide, reward, learn, actions, status: a typed request in, a result out |
| `recovery` | replay, snapshots, start, verify, backup, export |
| `replica` | several processes on one PostgreSQL |
| `http` | server, application, authentication, limits, metrics, OpenAPI |
| `dashboard` | the page |
"""
