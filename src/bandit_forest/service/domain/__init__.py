"""The state that results from the entries of the journal."""
