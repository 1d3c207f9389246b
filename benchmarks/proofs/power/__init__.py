"""A power cut at every moment: what a service does to its files is recorded, and every legal loss of it recovered from."""
