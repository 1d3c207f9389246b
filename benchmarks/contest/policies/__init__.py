"""The policies of the bake-off, one per file."""
