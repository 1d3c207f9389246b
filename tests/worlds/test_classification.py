"""Classified rows as a bandit: the stream of a seed, its noise, its rewards and its comparator."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bandit_forest.errors import InvalidArgumentError
from bandit_forest.worlds import Batch, Classification, World
from bandit_forest.worlds.datasets import load
from bandit_forest.worlds.packing import pack


def rows_and_labels(n_rows: int, n_variables: int, n_actions: int) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(n_rows)
    contexts = draws.integers(0, 2, size=(n_rows, n_variables), dtype=np.uint8)
    return contexts, draws.integers(-1, n_actions, size=n_rows)


def joined(world: World, n_events: int, *, seed: int, batch_size: int = 10_000) -> Batch:
    batches = list(world.batches(n_events, seed=seed, batch_size=batch_size))
    assert all(len(batch.contexts) == batch_size for batch in batches[:-1])
    return Batch(*(np.concatenate(part) for part in zip(*batches, strict=True)))


def distinct_world(n_rows: int, **parameters: Any) -> Classification:
    """Make a world in which each row can be told from its context: its own number in binary, and its label."""
    numbers = np.arange(n_rows)
    contexts = (numbers[:, None] >> np.arange(10)) & 1
    return Classification(contexts=contexts, labels=numbers % 5 - 1, **parameters)


def row_numbers(contexts: np.ndarray) -> np.ndarray:
    return contexts.astype(np.int64) @ (1 << np.arange(10))


def test_it_is_a_world() -> None:
    world = distinct_world(20, name="numbers")
    assert isinstance(world, World)
    assert (world.name, world.n_variables, world.n_actions) == ("numbers", 10, 4)


def test_shapes_and_types() -> None:
    batch = joined(distinct_world(20), 33, seed=1)
    assert (batch.contexts.shape, batch.contexts.dtype) == ((33, 10), np.uint8)
    assert (batch.rewards.shape, batch.rewards.dtype) == ((33, 4), np.float64)
    assert (batch.comparator_rewards.shape, batch.comparator_rewards.dtype) == ((33,), np.float64)
    np.testing.assert_array_equal(batch.scored_rewards, batch.rewards)
    assert batch.contexts.flags["C_CONTIGUOUS"]


def test_every_row_is_played_once_a_loop_in_the_same_shuffled_order() -> None:
    rows = row_numbers(joined(distinct_world(100, noise=0.0), 350, seed=3).contexts)
    assert sorted(rows[:100]) == list(range(100))
    np.testing.assert_array_equal(rows[100:200], rows[:100])
    np.testing.assert_array_equal(rows[300:], rows[:50])
    assert np.abs(np.diff(rows[:100])).mean() > 20  # about 33 when shuffled, about 1 when not


def test_the_label_earns_and_no_other_action_does() -> None:
    batch = joined(distinct_world(100, noise=0.0), 100, seed=3)
    labels = row_numbers(batch.contexts) % 5 - 1
    for label, rewards, earned in zip(labels, batch.rewards.tolist(), batch.comparator_rewards, strict=True):
        assert rewards == [float(action == label) for action in range(4)]
        assert earned == (label >= 0)


def test_each_seed_is_a_trial_with_its_own_order_start_and_noise() -> None:
    world = distinct_world(1000, noise=0.0)
    firsts = {int(row_numbers(joined(world, 1, seed=seed).contexts)[0]) for seed in range(50)}
    assert len(firsts) > 40
    one, two = (row_numbers(joined(world, 1000, seed=seed).contexts) for seed in (0, 1))
    assert (one == two).mean() < 0.02
    noisy = Classification(contexts=np.zeros((1, 64)), labels=[0], noise=0.3)
    assert (joined(noisy, 100, seed=0).contexts != joined(noisy, 100, seed=1).contexts).any()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 50),
    st.sampled_from([1, 2, 63, 64, 65, 94]),
    st.integers(0, 120),
    st.integers(1, 130),
    st.integers(0, 2**70),
)
def test_the_stream_does_not_depend_on_the_size_of_its_batches(
    n_rows: int, n_variables: int, n_events: int, batch_size: int, seed: int
) -> None:
    contexts, labels = rows_and_labels(n_rows, n_variables, 3)
    world = Classification(contexts=contexts, labels=labels, n_actions=3, noise=0.2)
    one = list(world.batches(n_events, seed=seed, batch_size=batch_size))
    assert [len(batch.contexts) for batch in one] == [
        min(batch_size, n_events - start) for start in range(0, n_events, batch_size)
    ]
    if n_events:
        whole = joined(world, n_events, seed=seed)
        for part, expected in zip(joined(world, n_events, seed=seed, batch_size=batch_size), whole, strict=True):
            np.testing.assert_array_equal(part, expected)
        longer = joined(world, n_events + 7, seed=seed)
        np.testing.assert_array_equal(longer.contexts[:n_events], whole.contexts)


def test_batches_longer_than_a_block_of_noise_agree_too() -> None:
    contexts, labels = rows_and_labels(500, 94, 7)
    world = Classification(contexts=contexts, labels=labels)
    large = joined(world, 5000, seed=4, batch_size=5000)
    np.testing.assert_array_equal(large.contexts, joined(world, 5000, seed=4, batch_size=999).contexts)


def test_two_streams_at_once_do_not_disturb_each_other() -> None:
    world = distinct_world(50)
    first, second = (world.batches(40, seed=8, batch_size=10) for _ in range(2))
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.contexts, two.contexts)


@pytest.mark.parametrize("noise", [0.0, 0.001, 0.05, 0.3, 0.5])
def test_each_bit_is_inverted_with_the_given_probability(noise: float) -> None:
    n_events, n_variables = 40_000, 33
    contexts = np.tile([0, 1], 20)[:n_variables]
    world = Classification(contexts=[contexts], labels=[0], noise=noise)
    flips = joined(world, n_events, seed=11).contexts ^ contexts.astype(np.uint8)
    error = 5 * np.sqrt(noise * (1 - noise) / n_events)
    assert np.abs(flips.mean(axis=0) - noise).max() <= error
    assert abs(flips.mean() - noise) <= error / np.sqrt(n_variables)
    if noise >= 0.05:  # variables, and events, are inverted independently of one another
        correlations = np.corrcoef(flips.T) - np.eye(n_variables)
        assert np.abs(correlations).max() < 5.5 / np.sqrt(n_events)
        assert abs(np.corrcoef(flips[1:, 0], flips[:-1, 0])[0, 1]) < 5 / np.sqrt(n_events)


def test_loops_differ_in_noise_only() -> None:
    contexts, labels = rows_and_labels(2000, 94, 7)
    batch = joined(Classification(contexts=contexts, labels=labels), 4000, seed=2)
    np.testing.assert_array_equal(batch.rewards[:2000], batch.rewards[2000:])
    assert abs((batch.contexts[:2000] != batch.contexts[2000:]).mean() - 2 * 0.05 * 0.95) < 0.005


def test_a_comparator_plays_the_noisy_contexts() -> None:
    seen: list[np.ndarray] = []

    def comparator(contexts: np.ndarray) -> np.ndarray:
        seen.append(contexts.copy())
        return contexts[:, 0]

    contexts = np.array([[0, 1], [1, 0], [1, 1]])
    world = Classification(contexts=contexts, labels=[0, 1, -1], noise=0.2, comparator=comparator)
    batch = joined(world, 3000, seed=5, batch_size=1000)
    np.testing.assert_array_equal(np.concatenate(seen), batch.contexts)
    expected = batch.rewards[np.arange(3000), batch.contexts[:, 0]]
    np.testing.assert_array_equal(batch.comparator_rewards, expected)
    assert abs(batch.comparator_rewards.mean() - 2 / 3 * 0.8) < 0.05


@pytest.mark.parametrize("actions", [[0], [5] * 10, [-1] * 10, [0.5] * 10])
def test_a_comparator_that_gives_no_actions_is_refused(actions: list[float]) -> None:
    world = distinct_world(20, comparator=lambda contexts: actions)
    with pytest.raises(InvalidArgumentError, match=r"of Classification\.comparator must be 10 ints"):
        next(world.batches(10, seed=0))


def test_packed_rows_give_the_same_stream() -> None:
    contexts, labels = rows_and_labels(100, 94, 7)
    dense = Classification(contexts=contexts, labels=labels)
    packed = Classification(contexts=pack(contexts), labels=labels, n_variables=94)
    assert packed.n_variables == 94
    np.testing.assert_array_equal(joined(packed, 300, seed=1).contexts, joined(dense, 300, seed=1).contexts)


def test_the_rows_are_left_alone() -> None:
    contexts, labels = rows_and_labels(100, 94, 7)
    words = pack(contexts)
    before = words.copy()
    world = Classification(contexts=words, labels=labels, n_variables=94)
    joined(world, 300, seed=1)
    np.testing.assert_array_equal(words, before)


def test_the_stream_of_a_seed_stays_what_it_is() -> None:
    contexts = (np.arange(40)[:, None] * np.arange(1, 71)[None, :] // 7) & 1
    batch = joined(Classification(contexts=contexts, labels=np.arange(40) % 3), 500, seed=2016)
    digest = hashlib.sha256(batch.contexts.tobytes() + batch.rewards.astype("<f8").tobytes())
    assert digest.hexdigest()[:16] == "0ce7f7f4b7da0a1a"


def test_a_data_set_gives_its_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = "caseid,dAge,iYearsch\n" + "".join(f"{row},{row % 7},{row % 18}\n" for row in range(126))
    (tmp_path / "USCensus1990.first15317.txt.gz").write_bytes(gzip.compress(text.encode()))
    world = load("census1990", tmp_path).world(noise=0.0)
    assert (world.name, world.n_variables, world.n_actions) == ("census1990-first126", 7, 18)
    batch = joined(world, 126, seed=0)
    np.testing.assert_array_equal(batch.rewards.sum(axis=0), 7)
    np.testing.assert_array_equal(batch.contexts.sum(axis=0), 18)


GOOD: dict[str, Any] = {"contexts": [[0, 1], [1, 0]], "labels": [0, 1]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"contexts": [[0, 2], [1, 0]]}, {"contexts": [0, 1]}, {"contexts": [[0, 1], [1]]}, {"contexts": None},
        {"contexts": []}, {"contexts": np.zeros((0, 3)), "labels": []}, {"contexts": np.zeros((2, 0))},
        {"contexts": "01"}, {"contexts": np.zeros((2, 2), dtype=np.uint64), "n_variables": 64},
        {"contexts": np.full((2, 1), 4, dtype=np.uint64), "n_variables": 2}, {"n_variables": 3}, {"n_variables": 0},
        {"labels": [0]}, {"labels": [0, -2]}, {"labels": [0.0, 1.0]}, {"labels": "01"}, {"labels": [0, [1]]},
        {"labels": None}, {"n_actions": 1}, {"n_actions": 2.0}, {"noise": 0.6}, {"noise": -0.1},
        {"noise": float("nan")}, {"noise": "0.1"},
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match="of Classification must be"):
        Classification(**(GOOD | wrong))


@pytest.mark.parametrize(
    "wrong", [{"n_events": -1}, {"n_events": 2.5}, {"seed": -1}, {"seed": None}, {"batch_size": 0}, {"batch_size": "1"}]
)
def test_wrong_streams_are_refused_at_once(wrong: dict[str, Any]) -> None:
    arguments = {"n_events": 10, "seed": 0} | wrong
    with pytest.raises(InvalidArgumentError, match=r"of Classification\.batches must be"):
        Classification(**GOOD).batches(arguments.pop("n_events"), **arguments)
