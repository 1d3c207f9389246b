"""One run of each guarantee: an algorithm of the paper plays a stream of a world whose gaps are known, to the end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from bandit_forest import BanditForest, Elimination, theory
from bandit_forest.forest.tree import Nodes
from bandit_forest.optimal import OptimalForest, OptimalNode
from bandit_forest.reference.selection import ActionSelection, VariableSelection
from bandit_forest.reference.stump import DecisionStump
from bandit_forest.rules import RoundRobin
from bandit_forest.worlds import Linear, Stump

NUMBERS_OF_VARIABLES = (8, 64, 512, 4096)
NUMBERS_OF_ACTIONS = (2, 4, 8, 16)
VARIABLES_OF_ACTION_SWEEP = 8


@dataclass(frozen=True)
class Outcome:
    """How one run ended."""

    events: int
    is_wrong: bool
    bound: float


@dataclass(frozen=True)
class Setting:
    """What is measured: an algorithm on worlds of one size."""

    statement: str
    n_variables: int
    n_actions: int
    gap: float = 0.45
    """Δ1 and Δ2; for Theorem 3 what they are at least."""
    delta: float = 0.05

    def run(self, seed: int) -> Outcome:
        """Play one stream to the end."""
        return STATEMENTS[self.statement](self, seed)


def run_variable_selection(setting: Setting, seed: int) -> Outcome:
    """Lemma 1: run Variable Selection, and see whether its variable is the best."""
    world = stump_world(setting, seed)
    selection = VariableSelection(n_variables=setting.n_variables, n_actions=setting.n_actions, delta=setting.delta)
    bound = theory.variable_selection_events(
        n_variables=setting.n_variables, n_actions=setting.n_actions, delta=setting.delta, variable_gap=setting.gap
    )
    events = play(selection, stream(world, bound, seed))
    return Outcome(events, selection.remaining_variables != world.relevant_variables, bound)


def run_action_selection(setting: Setting, seed: int) -> Outcome:
    """Lemma 3: run Action Selection, and see whether its action is the best."""
    rng = np.random.default_rng(seed)
    best = int(rng.integers(setting.n_actions))
    means = np.full(setting.n_actions, 0.5 - setting.gap / 2)
    means[best] = 0.5 + setting.gap / 2
    selection = ActionSelection(n_actions=setting.n_actions, delta=setting.delta)
    bound = theory.action_selection_events(n_actions=setting.n_actions, delta=setting.delta, action_gap=setting.gap)
    nothing = np.empty(0, dtype=np.uint8)
    rewards = (rng.random((int(bound), setting.n_actions)) < means).astype(np.float64)
    events = play(selection, ((nothing, row) for row in rewards))
    return Outcome(events, selection.remaining_actions(nothing) != [best], bound)


def run_decision_stump(setting: Setting, seed: int) -> Outcome:
    """Theorem 1: run Decision Stump, and see whether its variable and the actions of both values are the best."""
    world = stump_world(setting, seed)
    stump = DecisionStump(n_variables=setting.n_variables, n_actions=setting.n_actions, delta=setting.delta)
    bound = theory.decision_stump_events(
        n_variables=setting.n_variables,
        n_actions=setting.n_actions,
        delta=setting.delta,
        variable_gap=setting.gap,
        action_gap=setting.gap,
    )
    events = play(stump, stream(world, bound, seed))
    contexts = np.repeat([[0], [1]], setting.n_variables, axis=1)
    actions = [stump.remaining_actions(context) for context in contexts]
    is_right = stump.remaining_variables == world.relevant_variables and actions == [[0], [1]]
    return Outcome(events, not is_right, bound)


def stump_world(setting: Setting, seed: int) -> Stump:
    """Return a world in which Δ1 = Δ2, another variable hidden by each seed."""
    return Stump(
        n_variables=setting.n_variables, n_actions=setting.n_actions, action_gap=setting.gap, structure_seed=seed
    )


Event = tuple[np.ndarray, np.ndarray]


def stream(world: Stump, n_events: float, seed: int) -> Iterator[Event]:
    """Return the contexts and rewards of a world one by one."""
    for batch in world.batches(int(n_events), seed=seed, batch_size=1024):
        yield from zip(batch.contexts, batch.rewards, strict=True)


def play(algorithm: VariableSelection | ActionSelection | DecisionStump, events: Iterator[Event]) -> int:
    """Play until the algorithm has finished, and return the number of events that it took."""
    n_events = 0
    for context, rewards in events:
        if algorithm.finished:
            break
        action = algorithm.next_action(context)
        algorithm.learn(context, action, float(rewards[action]))
        n_events += 1
    return n_events


# Theorem 3: forests of the core on worlds in which no two variables or actions are too close at any node.

N_TREES, MAX_DEPTH, VARIABLE_SHARE = 3, 2, 0.8
N_FOREST_WORLDS = 20
SETTLING_BATCH = 5_000


def run_forest(setting: Setting, seed: int) -> Outcome:
    """Theorem 3: run Bandit Forest, and see whether every tree is the optimal greedy tree."""
    structure_seed, optimum = forest_world(setting, seed % N_FOREST_WORLDS)
    world = linear_world(setting, structure_seed)
    forest = BanditForest(
        n_variables=setting.n_variables,
        n_actions=setting.n_actions,
        n_trees=N_TREES,
        max_depth=MAX_DEPTH,
        variable_share=VARIABLE_SHARE,
        growth=Elimination(delta=setting.delta),
        exploration=RoundRobin(),
        seed=structure_seed,
    )
    bound = theory.forest_events(
        n_variables=setting.n_variables,
        n_actions=setting.n_actions,
        n_trees=N_TREES,
        max_depth=MAX_DEPTH,
        delta=setting.delta,
        variable_gap=float(optimum.variable_gap),
        action_gap=float(optimum.action_gap),
    )
    for batch in world.batches(int(bound), seed=seed, batch_size=SETTLING_BATCH):
        forest.play(batch.contexts, batch.rewards)
        if has_settled(forest):
            break
    trees = zip((forest.tree(number).nodes for number in range(N_TREES)), optimum.trees, strict=True)
    is_right = all(is_same_tree(nodes, 0, tree.root) for nodes, tree in trees)
    return Outcome(forest.n_events, not is_right, bound)


@cache
def forest_world(setting: Setting, number: int) -> tuple[int, OptimalForest]:
    """Find the first, second, ... world in which the optimal forest is unique by a margin; both have the same seed."""
    first = forest_world(setting, number - 1)[0] + 1 if number else 0
    for seed in itertools.count(first):
        optimum = OptimalForest(
            *linear_world(setting, seed).joint_distribution(),
            n_trees=N_TREES,
            max_depth=MAX_DEPTH,
            variable_share=VARIABLE_SHARE,
            seed=seed,
        )
        if min(optimum.variable_gap, optimum.action_gap) >= setting.gap:
            break
    return seed, optimum


def linear_world(setting: Setting, structure_seed: int) -> Linear:
    """Return a world in which all variables matter, some more than others."""
    return Linear(n_variables=setting.n_variables, n_actions=setting.n_actions, structure_seed=structure_seed)


def has_settled(forest: BanditForest) -> bool:
    """Return whether every path of every tree has one action left."""
    for number in range(forest.n_trees):
        nodes = forest.tree(number).nodes
        leaves = nodes.variable < 0
        if (nodes.depth[leaves] < MAX_DEPTH).any() or any(
            len(nodes.open_actions(leaf)) > 1 for leaf in np.flatnonzero(leaves).tolist()
        ):
            return False
    return True


def is_same_tree(nodes: Nodes, node: int, optimum: OptimalNode) -> bool:
    """Return whether a learned tree has the splits and the actions of an optimal one."""
    if not optimum.children:
        return bool(nodes.open_actions(node).tolist() == [optimum.action])
    first = int(nodes.child[node])
    return nodes.variable[node] == optimum.variable and all(
        is_same_tree(nodes, first + value, child) for value, child in enumerate(optimum.children)
    )


STATEMENTS: dict[str, Callable[[Setting, int], Outcome]] = {
    "Lemma 1": run_variable_selection,
    "Lemma 3": run_action_selection,
    "Theorem 1": run_decision_stump,
    "Theorem 3": run_forest,
}
FOREST = Setting("Theorem 3", n_variables=5, n_actions=4, gap=0.05)


def all_settings() -> list[Setting]:
    """List what is measured, each once."""
    sweeps = {
        "Lemma 1": [*sweep_of_variables("Lemma 1"), *sweep_of_actions("Lemma 1")],
        "Lemma 3": sweep_of_actions("Lemma 3"),
        "Theorem 1": [*sweep_of_variables("Theorem 1"), *sweep_of_actions("Theorem 1")],
        "Theorem 3": [FOREST],
    }
    return list(dict.fromkeys(itertools.chain(*sweeps.values())))


def sweep_of_variables(statement: str) -> list[Setting]:
    """List the settings that differ in the number of variables."""
    return [Setting(statement, n_variables, 2) for n_variables in NUMBERS_OF_VARIABLES]


def sweep_of_actions(statement: str) -> list[Setting]:
    """List the settings that differ in the number of actions."""
    return [Setting(statement, VARIABLES_OF_ACTION_SWEEP, n_actions) for n_actions in NUMBERS_OF_ACTIONS]
