"""Encoding of raw features as contexts, with a name for each variable."""

from bandit_forest.encoding.categorical import Categorical
from bandit_forest.encoding.column import Column
from bandit_forest.encoding.encoder import ContextEncoder
from bandit_forest.encoding.numeric import Binned, Numeric

__all__ = ["Binned", "Categorical", "Column", "ContextEncoder", "Numeric"]
