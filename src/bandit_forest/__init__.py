"""Random forests that learn which action to take in which context, from the reward of the chosen action alone."""

__version__ = "0.1.0"
