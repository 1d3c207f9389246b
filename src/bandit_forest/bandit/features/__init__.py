"""Features: their kinds, how values are checked, how rules are learned, and how contexts are encoded."""
