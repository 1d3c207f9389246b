"""The rules and sizes of the paper's experiments: docs/readings.md says how its text was read."""

from __future__ import annotations

from bandit_forest.rules import Elimination, UniformOverRemaining

__all__ = ["PAPER_EXPLORATION", "PAPER_GROWTH", "PAPER_MAX_NODES", "TREE_GROWTH"]

PAPER_GROWTH = Elimination(tolerance=(0.4, 0.8), remaining_actions="path", estimate="weights", test_interval=64)
TREE_GROWTH = Elimination(tolerance=0.6, remaining_actions="path", estimate="weights", test_interval=64)
PAPER_MAX_NODES = 2**14
PAPER_EXPLORATION = UniformOverRemaining(draw="union", quorum=0.05)
