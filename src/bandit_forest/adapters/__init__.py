"""Doors to other tools: coba, River, scikit-learn and Vowpal Wabbit."""
