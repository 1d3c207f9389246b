"""The state that the entries of the journal add up to."""
