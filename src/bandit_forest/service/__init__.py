"""A decision service: decide now, reward later, and nothing that was acknowledged is lost.

`project` says what is decided, `decider` is the whole state and its rules, `journal` makes it durable, `snapshots`
make starting fast, `export` gives the history away. HTTP is around it, not inside.
"""
