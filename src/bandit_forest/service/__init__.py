"""A decision service: decide now, reward later, and nothing that was acknowledged is lost.

The service is a `Bandit`, or a `PairBandit` if each event offers its own actions, with a journal and HTTP around it.
`http` parses and checks a request once, into a typed value. One of the `operations` applies the request to the state in
`domain`. The `journal` makes it durable, and then the service answers.

| package | content |
|---|---|
| `config` | projects, the reading of their files, the identity of a storage folder |
| `journal` | entries in their order, group commit, files |
| `domain` | the state that results from the entries |
| `operations` | decide, reward, learn, actions, status: from a typed request to a result |
| `recovery` | replay, snapshots, start, verify, backup, export |
| `replica` | several processes on one PostgreSQL |
| `http` | server, application, authentication, limits, metrics, OpenAPI |
| `dashboard` | the status page |
"""
