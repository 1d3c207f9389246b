"""The bake-off: streams made of classified rows, the policies that play them, and what is read from the results."""
