"""Adapters for other tools: coba, River, scikit-learn and Vowpal Wabbit."""
