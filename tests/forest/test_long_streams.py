"""Streams that change, and streams that do not end."""

import numpy as np
import pytest

from bandit_forest import BanditForest, Greedy
from bandit_forest.worlds import Drifting, HiddenTree

SIZES = {"n_variables": 20, "n_actions": 4}
BEFORE, AFTER = (HiddenTree(**SIZES, depth=2, structure_seed=seed) for seed in (0, 3))


def share_of_the_best(forest, world, n_events, last):
    """What a forest earns in its last events, as a share of the most that can be earned."""
    earned, best = [], []
    for batch in world.batches(n_events, seed=1):
        played = forest.play(batch.contexts, batch.rewards)
        earned.append(batch.scored_rewards[np.arange(len(played.actions)), played.actions])
        best.append(batch.comparator_rewards)
    return float(np.concatenate(earned)[-last:].sum() / np.concatenate(best)[-last:].sum())


@pytest.mark.parametrize("change_over", [1, 5_000])
def test_trees_with_a_lifetime_recover_from_a_change(change_over):
    world = Drifting(before=BEFORE, after=AFTER, change_at=20_000, change_over=change_over)
    recovering = BanditForest(**SIZES, n_trees=20, growth=Greedy(lifetime=8_000))
    staying = BanditForest(**SIZES, n_trees=20)
    assert share_of_the_best(recovering, world, 30_000, last=5_000) > 0.93
    assert share_of_the_best(staying, world, 30_000, last=5_000) < 0.8


def test_a_change_at_once_is_noticed_long_before_a_lifetime_has_passed():
    world = Drifting(before=BEFORE, after=AFTER, change_at=20_000, change_over=1)
    forest = BanditForest(**SIZES, n_trees=20, growth=Greedy(lifetime=20_000))
    assert share_of_the_best(forest, world, 22_000, last=1_000) > 0.9


def test_a_lifetime_costs_little_where_nothing_changes():
    forest = BanditForest(**SIZES, n_trees=20, growth=Greedy(lifetime=8_000))
    assert share_of_the_best(forest, BEFORE, 40_000, last=20_000) > 0.94


def test_trees_take_turns_in_being_renewed():
    forest = BanditForest(**SIZES, n_trees=4, growth=Greedy(renewal_work=8))
    renewed, before = [], [b""] * 4
    for batch in BEFORE.batches(20_000, seed=1, batch_size=64):
        forest.play(batch.contexts, batch.rewards)
        after = [forest.tree(number).nodes.variable.tobytes() for number in range(4)]
        renewed += [number for number in range(4) if after[number] != before[number]]
        before = after
    turns = renewed[4:]
    assert len(turns) >= 8
    assert turns == [(turns[0] + i) % 4 for i in range(len(turns))]


def test_memory_stays_within_its_bound_while_learning_goes_on():
    growth = Greedy(log_capacity=2**12, min_gain=0.0, min_events=2)
    forest = BanditForest(**SIZES, n_trees=5, max_nodes=2**9, growth=growth)
    # A node takes 28 bytes and half of them are leaves of 64; each group of four trees has one more under way, which
    # notes its events twice, four bytes each. Of an event the log keeps 16 bytes. Arrays double.
    bound = 2 * ((5 + 2) * 2**9 * (28 + 32) + 2**12 * (16 + 2 * 2 * 4)) + 2**16
    for n_events in (20_000, 60_000):
        share_of_the_best(forest, BEFORE, n_events, last=1)
        assert forest.n_bytes < bound
    assert 5 * 2**8 < forest.n_nodes <= 5 * 2**9
    assert share_of_the_best(forest, BEFORE, 5_000, last=5_000) > 0.9
