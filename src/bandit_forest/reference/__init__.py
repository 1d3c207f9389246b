"""The algorithms in plain Python: specification, oracle and tutorial. What is compiled equals them."""
