"""Tables and figures of the bake-off's page."""
