"""What other policies would have earned: the numbers of a service are those of its log, live and after a restart."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from projects import Decider, context, make_project, opened, play


def shadow(decider: Decider, n_events: int, *, seed: int, propensity: float | None = None) -> None:
    """Let an application choose at random; members want 'a', the others 'b'."""
    rng = random.Random(seed)
    for number in range(n_events):
        features = context(number)
        action = rng.choice("abc") if propensity is None else "c"
        decided = decider.decide(features, action=action, propensity=propensity or 1 / 3)
        decider.reward(decided.event_id, float(action == ("a" if features["member"] else "b")))


def test_the_gain_of_the_forest_in_shadow_mode(tmp_path: Path) -> None:
    with opened(make_project(tmp_path, mode="shadow")) as decider:
        shadow(decider, 400, seed=1)
        forest, uniform = decider.evaluation().policies
        assert (forest.policy, uniform.policy) == ("forest", "uniform")
        assert forest.verdict.startswith("No verdict about the forest yet: the 400 events")
        shadow(decider, 2000, seed=2)
        told = decider.evaluation()
        forest, uniform = told.policies
    assert told.average_reward == pytest.approx(1 / 3, abs=0.05)
    assert forest.value == pytest.approx(0.95, abs=0.06)
    assert forest.always_low > 0.4
    assert forest.always_low < forest.gain_low < forest.gain < forest.gain_high < forest.always_high
    assert 600 < forest.effective_sample_size < 1000
    assert forest.verdict.startswith("The forest earns more than the application: +0.")
    assert uniform.effective_sample_size == pytest.approx(2400)
    assert uniform.gain == pytest.approx(0.0, abs=1e-9)


def test_an_application_that_never_explores_has_no_verdict(tmp_path: Path) -> None:
    with opened(make_project(tmp_path, mode="shadow")) as decider:
        shadow(decider, 1200, seed=1, propensity=1.0)
        forest, _ = decider.evaluation().policies
    assert forest.verdict.startswith("No verdict about the forest")


def test_uniform_play_and_units(tmp_path: Path) -> None:
    with opened(make_project(tmp_path)) as decider:
        (nothing,) = decider.evaluation().policies
        assert (nothing.events, nothing.value, nothing.gain) == (0, None, None)
        play(decider, 600)
        (uniform,) = decider.evaluation().policies
        assert uniform.value == pytest.approx(decider.status().uniform_value)
        assert uniform.events == decider.status().rewards


def test_a_restart_goes_on_with_the_same_numbers(tmp_path: Path) -> None:
    project = make_project(tmp_path, mode="shadow")
    with opened(project) as decider:
        shadow(decider, 1100, seed=3)  # more than one block
        before = decider.evaluation()
    with opened(project) as decider:
        assert decider.evaluation() == before
