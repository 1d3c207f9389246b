"""A power cut at every moment: what a service does to its files is recorded, and what may be lost of it left out."""
