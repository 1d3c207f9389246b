"""Actions with features as a learner of coba."""

import numpy as np
import pytest

from bandit_forest.adapters.coba_pairs import CobaPairLearner

N_EVENTS = 1200


def interactions(seed=0):
    """Yield events whose actions are pairs of numbers that are never the same twice."""
    rng = np.random.default_rng(seed)
    for _ in range(N_EVENTS):
        context = {"age": float(rng.integers(18, 80))}
        actions = [(float(rng.integers(1, 20)), str(rng.choice(["red", "blue"]))) for _ in range(4)]
        actions = list(dict.fromkeys(actions))
        rewards = [float((context["age"] >= 40) == (price >= 10)) for price, _ in actions]
        yield {"context": context, "actions": actions, "rewards": rewards}


def learner():
    return CobaPairLearner(warm_up_events=50, forest={"n_trees": 8})


def test_it_learns_event_by_event():
    policy, earned = learner(), []
    for event in interactions():
        action, probability = policy.predict(event["context"], event["actions"])
        assert probability == pytest.approx(policy.score(event["context"], event["actions"], action))
        reward = event["rewards"][event["actions"].index(action)]
        policy.learn(event["context"], action, reward, probability)
        earned.append(reward)
    assert np.mean(earned[600:]) > 0.85


def test_in_an_experiment_of_coba():
    coba = pytest.importorskip("coba", reason="needs coba")

    class Stream:
        params = {"seed": 0}  # noqa: RUF012, as coba reads it

        def read(self):
            return interactions()

    result = coba.Experiment(coba.Environments(Stream()), learner(), coba.SequentialCB()).run(quiet=True)
    earned = [row[-1] for row in result.interactions]
    assert len(earned) == N_EVENTS
    assert np.mean(earned[600:]) > 0.85


@pytest.mark.parametrize("actions", [["a", "b"], [1.0, 2.0], [{"x": 1.0}, {"x": 2.0}], [[1.0, 0.0], [0.0, 1.0]]])
def test_actions_may_be_anything_that_coba_has(actions):
    policy = learner()
    for _ in range(60):
        action, probability = policy.predict(None, actions)
        policy.learn(None, action, float(action == actions[0]), probability)
    assert sum(policy.score(None, actions, action) for action in actions) == pytest.approx(1.0)
