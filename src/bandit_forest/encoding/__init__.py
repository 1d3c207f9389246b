"""Raw features into binary variables, and a name for each of them."""

from bandit_forest.encoding.columns import Categorical, Column, Numeric
from bandit_forest.encoding.encoder import ContextEncoder

__all__ = ["Categorical", "Column", "ContextEncoder", "Numeric"]
