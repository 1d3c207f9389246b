"""Streams of contexts and rewards for simulations and measurements."""

from bandit_forest.worlds.classification import Classification
from bandit_forest.worlds.drifting import Drifting
from bandit_forest.worlds.hidden_tree import HiddenTree
from bandit_forest.worlds.linear import Linear
from bandit_forest.worlds.stump import Stump
from bandit_forest.worlds.synthetic import JointDistribution, StationaryWorld, SyntheticWorld
from bandit_forest.worlds.table1 import Table1
from bandit_forest.worlds.world import Batch, World
from bandit_forest.worlds.xor import Xor

__all__ = [
    "Batch",
    "Classification",
    "Drifting",
    "HiddenTree",
    "JointDistribution",
    "Linear",
    "StationaryWorld",
    "Stump",
    "SyntheticWorld",
    "Table1",
    "World",
    "Xor",
]
