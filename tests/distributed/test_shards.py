"""Shards that learn apart make, byte for byte, the forest that one process makes."""

from copy import copy

import numpy as np
import pytest

from bandit_forest import BanditForest, Greedy, InvalidArgumentError
from bandit_forest.distributed.shards import Lessons, cut, merge, train
from random_world import world

FORESTS = {
    "default": {"n_trees": 32},
    "a small last group": {"n_trees": 10},
    "one tree": {"n_trees": 1},
    "without a line": {"n_trees": 12, "growth": Greedy(linear=False)},
    "ordered variables": {"n_trees": 8, "thresholds": {1: [0.5, 1.5, 2.5]}},
    "a lifetime": {"n_trees": 8, "growth": Greedy(lifetime=1000)},
    "a short log": {"n_trees": 8, "growth": Greedy(log_capacity=1024)},
}


def lessons_of(parameters, n_events=5000, fractional=True):
    contexts, table = world(parameters, n_events=n_events, fractional=fractional, seed=7)
    actions = np.random.default_rng(7).integers(0, parameters["n_actions"], n_events)
    return Lessons(contexts, actions, table[np.arange(n_events), actions])


def learn(forest, lessons):
    forest.learn_many(*lessons, propensities=np.full(len(lessons.rewards), 0.25))


def part_of(lessons, first, last):
    return Lessons(*(column[first:last] for column in lessons))


@pytest.mark.core
@pytest.mark.parametrize("n_shards", [1, 2, 100])
@pytest.mark.parametrize("name", FORESTS)
def test_merged_shards_are_the_forest_of_one_process(name, n_shards):
    parameters = {"n_variables": 9, "n_actions": 4, "seed": 5, **FORESTS[name]}
    start, whole = BanditForest(**parameters), BanditForest(**parameters)
    lessons = lessons_of(parameters)
    shards = [train(copy(start), lessons, parts) for parts in cut(start, n_shards)]
    learn(whole, lessons)
    merged = merge(start, lessons, shards[::-1])
    assert merged.__getstate__() == whole.__getstate__()
    learn(merged, lessons)
    learn(whole, lessons)
    assert merged.__getstate__() == whole.__getstate__()


@pytest.mark.core
def test_a_forest_that_has_learned_goes_on_in_shards_wherever_it_stands():
    parameters = {"n_variables": 9, "n_actions": 4, "n_trees": 12}
    lessons = lessons_of(parameters)
    whole, forest = BanditForest(**parameters), BanditForest(**parameters)
    learn(whole, lessons)
    for first, last in ((0, 1), (1, 63), (63, 64), (64, 1000), (1000, 5000)):
        part = part_of(lessons, first, last)
        forest = merge(forest, part, [train(copy(forest), part, parts) for parts in cut(forest, 2)])
    assert forest.__getstate__() == whole.__getstate__()


def test_shards_of_other_lessons_or_parts_are_refused():
    parameters = {"n_variables": 9, "n_actions": 4, "n_trees": 12}
    lessons, start = lessons_of(parameters, 300), BanditForest(**parameters)
    shards = [train(copy(start), lessons, parts) for parts in cut(start, 3)]
    fewer = part_of(lessons, 0, 299)
    for given, wrong in ((lessons, shards[1:]), (lessons, [*shards, shards[0]]), (fewer, shards)):
        with pytest.raises(InvalidArgumentError, match="The 'shards' of merge must be one for each part"):
            merge(start, given, wrong)
    with pytest.raises(InvalidArgumentError, match="The 'forest' of cut must be one with greedy growth"):
        cut(BanditForest.paper(n_variables=9, n_actions=4), 2)
