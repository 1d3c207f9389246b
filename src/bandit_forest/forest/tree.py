"""A read-only view of one tree of a forest: its nodes as arrays, its rules as text, and a drawing of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from bandit_forest.forest.drawing import Box, draw
from bandit_forest.validation import check_int
from bandit_forest.variables import Variables

__all__ = ["STATUSES", "EliminationNodes", "GreedyNodes", "Nodes", "TreeView"]

STATUSES = ("selecting", "split", "terminal")


@dataclass(frozen=True)
class Nodes:
    """The nodes of a tree, one per row; node 0 is the root. The arrays are copies and cannot be written to."""

    parent: NDArray[np.int64]
    """-1 for the root."""
    depth: NDArray[np.int64]
    """Number of tests on the way to the node."""
    variable: NDArray[np.int64]
    """The variable that is tested; -1 in a leaf."""
    threshold: NDArray[np.int64]
    """The code from which on the test is passed, 1 where the variable is binary; -1 in a leaf."""
    child: NDArray[np.int64]
    """Number of the node for a context that fails the test, -1 in a leaf; one that passes leads to the next node."""
    visits: NDArray[np.int64]
    """Events learned here."""
    plays: NDArray[np.int64]
    """Events by action."""
    mean_rewards: NDArray[np.float64]
    """Estimated mean reward by action; NaN where nothing is known."""

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).flags.writeable = False

    def __len__(self) -> int:
        return len(self.parent)

    def open_actions(self, node: int) -> NDArray[np.intp]:
        """Return the actions that a leaf still chooses from, or the action that it has chosen."""
        raise NotImplementedError

    def chosen_actions(self, leaves: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the action that each of some leaves has chosen, -1 where it has not chosen yet."""
        raise NotImplementedError

    def ancestors(self, depth: int) -> NDArray[np.int64]:
        """Return for each node the one at a depth from which it descends, or itself if it is not that deep."""
        ancestors = np.arange(len(self))
        for level in range(depth + 1, int(self.depth.max()) + 1):
            nodes = np.flatnonzero(self.depth == level)
            ancestors[nodes] = ancestors[self.parent[nodes]]
        return ancestors


@dataclass(frozen=True)
class EliminationNodes(Nodes):
    """The nodes of a tree that grows by elimination; inner nodes keep their estimates from before the split."""

    status: NDArray[np.uint8]
    """An index into `STATUSES`."""
    tolerance: NDArray[np.float64]
    """The approximation ε of the node."""
    remaining_actions: NDArray[np.uint8]
    """1 where the action is still in play."""
    remaining_variables: NDArray[np.uint8]
    """1 where the variable is still in play."""

    def open_actions(self, node: int) -> NDArray[np.intp]:
        """Return the actions that remain in a leaf."""
        return np.flatnonzero(self.remaining_actions[node])

    def chosen_actions(self, leaves: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the only action that remains in each of some leaves, -1 where several do."""
        remaining = self.remaining_actions[leaves]
        return np.where(remaining.sum(axis=1) == 1, remaining.argmax(axis=1), -1)


@dataclass(frozen=True)
class GreedyNodes(Nodes):
    """The nodes of a tree that grows greedily; only leaves have events and means."""

    gain: NDArray[np.float64]
    """Variance of the rewards that the split explained, summed over the events of the leaf that split."""

    def open_actions(self, node: int) -> NDArray[np.intp]:
        """Return the action of the highest mean."""
        return np.array([self.mean_rewards[node].argmax()])

    def chosen_actions(self, leaves: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the action of the highest mean in each of some leaves."""
        chosen: NDArray[np.int64] = self.mean_rewards[leaves].argmax(axis=1)
        return chosen


class TreeView:
    """A view of one tree of a forest, at one moment.

    Parameters
    ----------
    nodes
        The nodes of the tree.
    max_depth
        The depth at which the tree stops growing.
    variables
        The variables of the forest.
    action_names
        The name of each action; None for a tree over pairs, whose leaves have one mean reward each.
    """

    def __init__(self, nodes: Nodes, max_depth: int, variables: Variables, action_names: Sequence[str] | None) -> None:
        self.nodes = nodes
        self.max_depth = max_depth
        self._variables = variables
        self._action_names = action_names

    def __repr__(self) -> str:
        leaves = int((self.nodes.variable < 0).sum())
        return f"TreeView({len(self.nodes)} nodes, {leaves} leaves, max_depth={self.max_depth})"

    def to_text(self, *, max_depth: int | None = None) -> str:
        """Return the tree as indented rules, one line per node.

        Parameters
        ----------
        max_depth
            Depth below which rules are summed up in one line each; None: all rules are shown.
        """
        ancestors = None
        if max_depth is not None:
            ancestors = self.nodes.ancestors(check_int(max_depth, "max_depth", "TreeView.to_text", low=0))
        return "\n".join(self._lines(0, "", ancestors))

    def to_svg(self, *, max_depth: int = 4) -> str:
        """Return a drawing of the tree as SVG: tests from left to right, and the best action of each leaf.

        Parameters
        ----------
        max_depth
            Depth below which nodes are summed up in one box.
        """
        depth = check_int(max_depth, "max_depth", "TreeView.to_svg", low=0)
        caption = "Numbers and bars: mean rewards. Width of a line: its share of the events."
        return draw(self._box(0, depth, self.nodes.ancestors(depth)), caption=caption)

    def _box(self, node: int, max_depth: int, ancestors: NDArray[np.int64]) -> Box:
        variable = int(self.nodes.variable[node])
        if variable < 0:
            return self._leaf_box(node)
        if self.nodes.depth[node] >= max_depth:
            return self._sum_box(np.flatnonzero(ancestors == node))
        children = tuple(self._box(int(self.nodes.child[node]) + value, max_depth, ancestors) for value in (1, 0))
        events = self._learned(np.array([node])) + sum(child.events for child in children)
        return Box(self._test(node), _events(events), events, kind="test", children=children)

    def _leaf_box(self, node: int) -> Box:
        remaining = self.nodes.open_actions(node)
        events = int(self.nodes.visits[node])
        if len(remaining) > 1:
            return Box(f"exploring {len(remaining)} actions", _events(events), events)
        action = int(remaining[0])
        mean = float(self.nodes.mean_rewards[node, action])
        known = not np.isnan(mean)
        title, *note = [*self._name(action), *([f"{mean:.3f}"] if known else []), _events(events)]
        level = min(max(mean, 0.0), 1.0) if known else None
        return Box(title, " · ".join(note), events, colour=action, level=level)

    def _sum_box(self, nodes: NDArray[np.intp]) -> Box:
        """Sum up a node and those below it: how many leaves, and what most of their events find best."""
        events = self._learned(nodes)
        leaves = nodes[self.nodes.variable[nodes] < 0]
        chosen = self.nodes.chosen_actions(leaves)
        title = f"{len(leaves):,} leaves"
        if (chosen < 0).all():
            return Box(title, _events(events), events, kind="more")
        weights = self.nodes.visits[leaves[chosen >= 0]]
        action = int(np.bincount(chosen[chosen >= 0], weights=weights).argmax())
        note = [*(f"mostly {name}" for name in self._name(action)), _events(events)]
        return Box(title, " · ".join(note), events, kind="more", colour=action)

    def _test(self, node: int) -> str:
        return self._variables.test(int(self.nodes.variable[node]), int(self.nodes.threshold[node]))

    def _learned(self, nodes: NDArray[np.intp]) -> int:
        """Count the events of nodes; a stump of the last level has handed its own on to its leaves."""
        handed_on = (self.nodes.variable[nodes] >= 0) & (self.nodes.depth[nodes] + 1 == self.max_depth)
        return int(self.nodes.visits[nodes[~handed_on]].sum())

    def _lines(self, node: int, indent: str, ancestors: NDArray[np.int64] | None) -> Iterator[str]:
        """Yield the lines of a node; those below a node that is the ancestor of others are summed up."""
        variable = int(self.nodes.variable[node])
        if variable < 0:
            yield f"{indent}{self._conclusion(node)}"
            return
        below = np.flatnonzero(ancestors == node) if ancestors is not None else np.array([], dtype=np.intp)
        if len(below) > 1:
            box = self._sum_box(below)
            yield f"{indent}{box.title}, {box.note.replace(' · ', ', ')}"
            return
        for value in (1, 0):
            child = int(self.nodes.child[node]) + value
            condition = f"{indent}{'if' if value else 'if not'} {self._test(node)}"
            if self.nodes.variable[child] < 0:
                yield f"{condition}: {self._conclusion(child)}"
            else:
                yield f"{condition}:"
                yield from self._lines(child, indent + "  ", ancestors)

    def _conclusion(self, node: int) -> str:
        remaining = self.nodes.open_actions(node)
        events = _events(int(self.nodes.visits[node]))
        if len(remaining) > 1:
            return f"exploring {len(remaining)} actions ({events})"
        action = int(remaining[0])
        mean = self.nodes.mean_rewards[node, action]
        estimate = [] if np.isnan(mean) else [f"mean reward {mean:.3f}"]
        title, *note = [*self._name(action), *estimate, events]
        return f"{title} ({', '.join(note)})"

    def _name(self, action: int) -> list[str]:
        """Return the name of an action, or nothing where the leaves are of pairs."""
        return [] if self._action_names is None else [self._action_names[action]]


def _events(number: int) -> str:
    return f"{number:,} events"
