"""Trees as flat arrays, and many contexts routed through them at a time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bandit_forest.atomic import replacing

__all__ = ["FlatForest", "TreeArrays"]

_VARIABLE_BITS = 20
_LEVELS_AT_ONCE = 8  # between two looks for contexts that have arrived


class TreeArrays(NamedTuple):
    """One binary tree: one row per node, the root first."""

    low: NDArray[np.int64]
    """The node that value 0 leads to; -1 in a leaf."""
    high: NDArray[np.int64]
    """The node that value 1 leads to; -1 in a leaf."""
    variable: NDArray[np.int64]
    """The variable that is tested; anything in a leaf."""
    votes: NDArray[np.float64]
    """Votes of the node for each action, (nodes, n_actions)."""


class FlatForest:
    """A forest that is fitted and only plays: the action with the largest sum of votes, the lowest of equals.

    Parameters
    ----------
    variables
        The variable that each node of each tree tests; -1 in a leaf.
    children
        Where value 0 leads, and value 1 to the node after it; in a leaf, its row in `votes`.
    roots
        The first node of each tree.
    votes
        The different votes of leaves, (rows, n_actions).
    n_variables
        Number of binary variables of a context.

    Examples
    --------
    >>> stump = TreeArrays(*np.array([[1, -1, -1], [2, -1, -1], [0, 0, 0]]), votes=np.array([[1, 1], [0, 2], [2, 0]]))
    >>> FlatForest.from_trees([stump], n_variables=1).predict(np.array([[0], [1]], dtype=np.uint8))
    array([1, 0])
    """

    def __init__(
        self,
        *,
        variables: NDArray[np.int32],
        children: NDArray[np.int32],
        roots: NDArray[np.int64],
        votes: NDArray[np.float64],
        n_variables: int,
    ) -> None:
        self._variables, self._children, self._roots, self._votes = variables, children, roots, votes
        self.n_variables = n_variables
        # One number per node saves half of the cache misses. A leaf leads to itself, by a variable that is always 0.
        is_leaf = variables < 0
        records = np.where(is_leaf, np.arange(len(children)), children) << _VARIABLE_BITS
        self._records: NDArray[np.int64] = records | np.where(is_leaf, n_variables, variables)

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return int(self._votes.shape[1])

    @classmethod
    def from_trees(cls, trees: Iterable[TreeArrays], *, n_variables: int) -> FlatForest:
        """Lay trees out flat, level by level, so that the nodes that are passed most often lie together."""
        known: dict[bytes, int] = {}
        parts = [_flatten(tree, known) for tree in trees]
        n_actions = len(next(iter(known))) // np.dtype(np.float64).itemsize
        roots = np.cumsum([0] + [len(variables) for variables, _ in parts])[:-1]
        children = [
            np.where(variables < 0, below, below + root) for (variables, below), root in zip(parts, roots, strict=True)
        ]
        return cls(
            variables=np.concatenate([variables for variables, _ in parts]).astype(np.int32),
            children=np.concatenate(children).astype(np.int32),
            roots=roots.astype(np.int64),
            votes=np.frombuffer(b"".join(known)).reshape(-1, n_actions),
            n_variables=n_variables,
        )

    def predict(self, contexts: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return the action for each context."""
        width = self.n_variables + 1
        bits = np.zeros((len(contexts), width), dtype=np.uint8)
        bits[:, :-1] = contexts
        rows = np.arange(len(contexts)) * width
        sums = np.zeros((len(contexts), self.n_actions))
        for root in self._roots.tolist():
            leaves = self._route(root, bits.ravel(), rows)
            sums += self._votes.take(self._children.take(leaves), axis=0)
        actions: NDArray[np.int64] = sums.argmax(axis=1)
        return actions

    def save(self, path: Path) -> None:
        """Write the forest to a file."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as stream:
            np.savez(
                stream,
                variables=self._variables,
                children=self._children,
                roots=self._roots,
                votes=self._votes,
                n_variables=self.n_variables,
            )

    @classmethod
    def load(cls, source: Path | BinaryIO) -> FlatForest:
        """Read a forest that `save` has written."""
        with np.load(source, allow_pickle=False) as arrays:
            return cls(
                variables=arrays["variables"],
                children=arrays["children"],
                roots=arrays["roots"],
                votes=arrays["votes"],
                n_variables=int(arrays["n_variables"]),
            )

    def _route(self, root: int, bits: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the leaf of one tree that each context arrives at; `rows` are the positions of their first bits."""
        nodes = np.full(len(rows), root, dtype=np.int64)
        arrived, under_way = nodes, np.arange(len(rows))
        while len(under_way):
            going = self._descend(nodes, bits, rows)
            arrived[under_way] = nodes
            nodes, rows, under_way = nodes[going], rows[going], under_way[going]
        return arrived

    def _descend(self, nodes: NDArray[np.int64], bits: NDArray[np.uint8], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Move each context down some levels, in place, and return those that have not arrived."""
        records, bit_numbers, values = np.empty_like(nodes), np.empty_like(nodes), np.empty(len(nodes), np.uint8)
        mask = (1 << _VARIABLE_BITS) - 1
        for _ in range(_LEVELS_AT_ONCE):
            # All positions are valid; other modes than raise let `take` write into `out` without a copy.
            self._records.take(nodes, out=records, mode="clip")
            np.bitwise_and(records, mask, out=bit_numbers)
            bit_numbers += rows
            bits.take(bit_numbers, out=values, mode="clip")
            np.right_shift(records, _VARIABLE_BITS, out=nodes)
            nodes += values
        return np.flatnonzero(self._variables.take(nodes) >= 0)


def _flatten(tree: TreeArrays, known: dict[bytes, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the variables and children of a tree by levels; new votes of leaves are added to the known ones."""
    order = np.concatenate(list(_levels(tree)))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    is_leaf = tree.low[order] < 0
    leaf_votes = np.ascontiguousarray(tree.votes[order[is_leaf]], dtype=np.float64)
    children = np.empty_like(order)
    children[is_leaf] = [known.setdefault(vote.tobytes(), len(known)) for vote in leaf_votes]
    children[~is_leaf] = position[tree.low[order[~is_leaf]]]
    return np.where(is_leaf, -1, tree.variable[order]), children


def _levels(tree: TreeArrays) -> Iterable[NDArray[np.int64]]:
    """Yield the nodes of each level, children of one node side by side."""
    level = np.zeros(1, dtype=np.int64)
    while len(level):
        yield level
        inner = level[tree.low[level] >= 0]
        level = np.stack([tree.low[inner], tree.high[inner]], axis=1).ravel()
