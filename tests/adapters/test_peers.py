"""The adapters, each in the real tool installed beside it: a forest earns there what it earns in our simulation."""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from bandit_forest import BanditForest, InvalidArgumentError
from bandit_forest.adapters.coba import CobaLearner
from bandit_forest.adapters.river import RiverPolicy
from bandit_forest.adapters.vowpal_wabbit import VowpalWabbit, from_vw, to_vw
from bandit_forest.baselines import Uniform
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import MissingExtraError
from bandit_forest.evaluation import Log
from bandit_forest.simulation import simulate
from bandit_forest.worlds import HiddenTree

WORLD = HiddenTree(n_variables=8, n_actions=3, depth=2, noise=0.1)
N_EVENTS = 1500
SEEDS = [0, 1, 2]


def make(**parameters: object) -> BanditForest:
    return BanditForest(n_trees=10, **parameters)


def events(seed: int) -> tuple[np.ndarray, np.ndarray]:
    (batch,) = WORLD.batches(N_EVENTS, seed=seed, batch_size=N_EVENTS)
    return batch.contexts, batch.rewards


def alive(seed: int) -> float:
    """Return what the forest earns in our own simulation of the same stream."""
    (row,) = simulate(make(n_variables=8, n_actions=3, seed=seed), WORLD, n_events=N_EVENTS, seed=seed)
    return row.average_reward


@pytest.mark.parametrize("seed", SEEDS)
def test_in_an_experiment_of_coba(seed):
    coba = pytest.importorskip("coba", reason="needs coba")
    contexts, rewards = events(seed)

    class Stream:
        params = {"seed": seed}  # noqa: RUF012, as coba reads it

        def read(self):
            for context, earned in zip(contexts.tolist(), rewards.tolist(), strict=True):
                yield {"context": tuple(context), "actions": ["a", "b", "c"], "rewards": earned}

    learner = CobaLearner(features=8, make=lambda **sizes: make(**sizes, seed=seed))
    environments = coba.Environments(Stream())
    result = coba.Experiment(environments, learner, coba.SequentialCB()).run(quiet=True)
    earned = [row[-1] for row in result.interactions]
    assert len(earned) == N_EVENTS
    assert np.mean(earned) == pytest.approx(alive(seed), abs=0.03)


@pytest.mark.parametrize("seed", SEEDS)
def test_as_a_contextual_policy_of_river(seed):
    pytest.importorskip("river", reason="needs River")
    contexts, rewards = events(seed)
    names = [f"x{place}" for place in range(8)]
    policy = RiverPolicy(["a", "b", "c"], names, make, seed=seed)
    earned = 0.0
    for bits, row in zip(contexts.tolist(), rewards, strict=True):
        context = dict(zip(names, bits, strict=True))
        arm = policy.pull(["a", "b", "c"], context=context)
        reward = float(row["abc".index(arm)])
        policy.update(arm, context, reward)
        earned += reward
    assert earned / N_EVENTS == alive(seed)  # decision by decision
    assert len(policy._waiting) == 0


class Arms:
    """An environment as River's evaluation asks for it: three arms, without contexts."""

    action_space = SimpleNamespace(n=3, seed=lambda seed: None)

    def __init__(self, rewards: np.ndarray) -> None:
        self.rewards, self.step_number = rewards, 0

    def reset(self, seed: int) -> None:
        self.step_number = 0

    def step(self, arm: int) -> tuple[object, float, bool, bool, dict]:
        reward = float(self.rewards[self.step_number, arm])
        self.step_number += 1
        return None, reward, self.step_number == len(self.rewards), False, {}


@pytest.mark.parametrize("seed", SEEDS)
def test_in_the_evaluation_of_river(seed):
    bandit = pytest.importorskip("river.bandit", reason="needs River")
    rewards = (np.random.default_rng(seed).random((N_EVENTS, 3)) < [0.2, 0.5, 0.7]).astype(float)
    trace = bandit.evaluate([RiverPolicy(range(3), 0, make, seed=seed)], Arms(rewards), n_episodes=1, seed=1)
    earned = [step["reward"] for step in trace]
    played = make(n_variables=1, n_actions=3, seed=seed).play(np.zeros((N_EVENTS, 1), np.uint8), rewards)
    assert np.mean(earned) == played.rewards.mean()  # decision by decision


def test_river_replays_logs_with_contexts():
    bandit = pytest.importorskip("river.bandit", reason="needs River")
    contexts, rewards = events(0)
    taken = np.random.default_rng(0).integers(0, 3, N_EVENTS)
    names = [f"x{place}" for place in range(8)]
    history = [
        ([0, 1, 2], dict(zip(names, bits, strict=True)), int(arm), float(row[arm]), 1 / 3)
        for bits, arm, row in zip(contexts.tolist(), taken, rewards, strict=True)
    ]
    history = [event[:4] for event in history]
    _, n_used = bandit.evaluate_offline(RiverPolicy(range(3), names, make), history)
    assert N_EVENTS / 4 < n_used < N_EVENTS / 2


def test_river_clones_and_refuses_unknown_arms():
    pytest.importorskip("river", reason="needs River")
    policy = RiverPolicy(["a", "b"], ["x"], make)
    policy.update("a", {"x": 1}, 1.0)
    assert policy.clone()._policy.n_events == 0
    assert policy._policy.n_events == 1
    with pytest.raises(InvalidArgumentError, match="'arm' of RiverPolicy"):
        policy.pull(["z"], context={"x": 1})


def test_without_river_the_cure_is_told(monkeypatch):
    monkeypatch.setattr("bandit_forest.adapters.river.ContextualPolicy", None)
    with pytest.raises(MissingExtraError, match=r"bandit-forest\[peers\]"):
        RiverPolicy(["a", "b"])


def test_coba_scores_and_subsets_of_actions():
    learner = CobaLearner(features=2, make=make, reward_range=(-1, 1))
    action, probability = learner.predict((0, 1), ["a", "b", "c"])
    assert learner.score((0, 1), ["a", "b", "c"], action) == pytest.approx(probability)
    learner.learn((0, 1), action, -1.0, probability)
    assert learner.predict((0, 1), ["b"]) == ("b", 1.0)
    assert sum(learner.score((0, 1), ["a", "b", "c"], one) for one in "abc") == pytest.approx(1)
    with pytest.raises(InvalidArgumentError, match="'action' of CobaLearner"):
        learner.predict((0, 1), ["z"])
    with pytest.raises(InvalidArgumentError, match="'context' of CobaLearner"):
        learner.predict((0, 0.5), ["a"])


def test_coba_with_raw_features():
    encoder = ContextEncoder().fit([{"age": age, "city": city} for age in (20, 40, 60) for city in ("x", "y")])
    learner = CobaLearner(features=encoder, make=make)
    assert learner.predict({"age": 30, "city": "x"}, [(1, 0), (0, 1)])[1] > 0
    assert learner._policy.parameters["thresholds"] == encoder.thresholds


def test_vowpal_wabbit_plays_our_worlds():
    pytest.importorskip("vowpalwabbit", reason="needs Vowpal Wabbit")
    policy = VowpalWabbit(n_variables=8, n_actions=3, arguments="--squarecb --gamma_scale 100 -l 0.5 -q ::", seed=1)
    assert policy.propensities([0] * 8).sum() == pytest.approx(1)
    (played,) = simulate(policy, WORLD, n_events=2000, seed=1)
    (uniform,) = simulate(Uniform(n_variables=8, n_actions=3), WORLD, n_events=2000, seed=1)
    assert played.average_reward > uniform.average_reward + 0.2
    assert policy.decide([0] * 8, available_actions=[1]) == (1, 1.0)
    table = policy.propensities_many(np.eye(8, dtype=np.uint8))
    assert table.sum(axis=1) == pytest.approx(np.ones(8))


def test_without_vowpal_wabbit_the_cure_is_told(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "vowpalwabbit", None)
    with pytest.raises(MissingExtraError, match=r"bandit-forest\[peers\]"):
        VowpalWabbit(n_variables=1, n_actions=2)


def test_logs_to_vowpal_wabbit_and_back(tmp_path):
    log = Log(actions=[1], rewards=[0.5], propensities=[0.25], contexts=[[0, 1]], action_names=2)
    assert to_vw(log, tmp_path / "log.vw") == 1
    (read,) = from_vw(tmp_path / "log.vw", actions=2, variable_names=["x0", "x1"]).batches()
    assert read.contexts.tolist() == [[0, 1]]
    assert copy.copy(read).rewards.tolist() == [0.5]
