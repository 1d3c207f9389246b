"""A decision service: decide now, reward later, and nothing that was acknowledged is lost.

`project` says what is decided and `project_file` reads it (`load_project`, `example_project`); `decider` is the whole
state and its rules; `journal` makes it durable; `snapshots` make starting fast; `recovery` starts and verifies
(`verify`); `backup` copies a folder that is in use (`back_up`); `export` gives the history away (`export_journal`).
HTTP is around it, not inside.
"""
