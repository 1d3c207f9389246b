"""Long proofs of what the decision service promises: each in parts, so that a run that ended goes on."""
