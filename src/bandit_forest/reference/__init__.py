"""The algorithms of the paper in plain Python: specification, oracle and tutorial."""
