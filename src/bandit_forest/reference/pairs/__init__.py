"""The forest over pairs in plain Python: its specification."""

from bandit_forest.reference.pairs.forest import PairReferenceForest
from bandit_forest.reference.pairs.line import PairLine
from bandit_forest.reference.pairs.named import NamedForest
from bandit_forest.reference.pairs.names import NameTable

__all__ = ["NameTable", "NamedForest", "PairLine", "PairReferenceForest"]
