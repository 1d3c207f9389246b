"""The forests that regret is counted against, and the best that full information allows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from bandit_forest.errors import MissingExtraError
from bandit_forest.experiments.comparator import models
from bandit_forest.experiments.comparator.fitted import fitted_file
from bandit_forest.experiments.comparator.models import GreedyForest, RandomForest
from bandit_forest.experiments.comparator.rewards import play_comparator, read_rewards, rewards_file
from bandit_forest.experiments.comparator.routing import FlatForest, TreeArrays
from bandit_forest.optimal import OptimalForest
from bandit_forest.worlds.datasets import Dataset


def silent(*_: object) -> None:
    """Take a report of progress."""


def earned(forest: FlatForest, dataset: Dataset, n_events: int, seed: int) -> np.ndarray:
    batches = list(dataset.world().batches(n_events, seed=seed, batch_size=7))
    contexts, rewards = (np.concatenate(part) for part in list(zip(*batches, strict=True))[:2])
    return rewards[np.arange(n_events), forest.predict(contexts)]


def test_flat_forest_plays_like_scikit_learn(dataset: Dataset):
    rows = np.random.default_rng(2).integers(0, 2, size=(3000, 94), dtype=np.uint8)
    whole = RandomForestClassifier(25, random_state=3).fit(dataset.contexts, dataset.labels)
    told: list[int] = []
    model = RandomForest(n_trees=25, seed=3)
    np.testing.assert_array_equal(model.fit(dataset, jobs=1, progress=told.append).predict(rows), whole.predict(rows))
    assert told == [10, 20, 25]
    several = model.fit(dataset, jobs=2, progress=silent)
    np.testing.assert_array_equal(several.predict(rows), whole.predict(rows))


def test_where_no_action_is_rewarded_the_forest_plays_the_most_probable_action(unlabelled: Dataset):
    rows = np.random.default_rng(2).integers(0, 2, size=(2000, 94), dtype=np.uint8)
    whole = RandomForestClassifier(12, random_state=0).fit(unlabelled.contexts, unlabelled.labels)
    assert -1 in whole.predict(rows)
    probable = whole.classes_[1:][whole.predict_proba(rows)[:, 1:].argmax(axis=1)]
    forest = RandomForest(n_trees=12).fit(unlabelled, jobs=1, progress=silent)
    np.testing.assert_array_equal(forest.predict(rows), probable)


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_greedy_forest_is_the_optimal_forest_of_the_noisy_stream(dataset: Dataset, jobs: int):
    batch = next(dataset.world().batches(3000, seed=2**32, batch_size=3000))
    optimal = OptimalForest(batch.contexts, batch.rewards, n_trees=5, max_depth=4, variable_share=0.5, seed=1)
    model = GreedyForest(n_trees=5, max_depth=4, variable_share=0.5, seed=1, n_events=3000)
    rows = np.random.default_rng(2).integers(0, 2, size=(2000, 94), dtype=np.uint8)
    np.testing.assert_array_equal(model.fit(dataset, jobs=jobs, progress=silent).predict(rows), optimal.predict(rows))


def test_a_tree_that_is_a_leaf_and_one_that_is_deep():
    leaf = TreeArrays(*np.array([[-1], [-1], [0]]), votes=np.array([[0.0, 2.0]]))
    depth = 60  # a comb: value 1 goes down, value 0 ends with action 0
    low = np.array([n for level in range(depth) for n in (2 * level + 1, -1)] + [-1])
    high = np.array([n for level in range(depth) for n in (2 * level + 2, -1)] + [-1])
    variables = np.array([n for level in range(depth) for n in (level, 0)] + [0])
    votes = np.tile([1.0, 0.0], (2 * depth + 1, 1))
    votes[-1] = [0.0, 0.5]
    comb = TreeArrays(low, high, variables, votes)
    rows = np.ones((3, depth), dtype=np.uint8)
    rows[1, -1] = rows[2, 0] = 0
    assert FlatForest.from_trees([comb], n_variables=depth).predict(rows).tolist() == [1, 0, 0]
    assert FlatForest.from_trees([comb, leaf], n_variables=depth).predict(rows).tolist() == [1, 1, 1]


def test_a_saved_forest_plays_the_same(dataset: Dataset, tmp_path: Path):
    forest = RandomForest(n_trees=5).fit(dataset, jobs=1, progress=silent)
    forest.save(tmp_path / "new" / "forest.npz")
    again = FlatForest.load(tmp_path / "new" / "forest.npz")
    rows = dataset.contexts
    assert (again.n_variables, again.n_actions) == (94, 7)
    np.testing.assert_array_equal(again.predict(rows), forest.predict(rows))


def test_a_fitted_forest_is_kept_under_the_hash_of_all_it_depends_on(
    dataset: Dataset, unlabelled: Dataset, monkeypatch: pytest.MonkeyPatch
):
    files = [fitted_file(model, data) for model in (RandomForest(), RandomForest(seed=1), GreedyForest(max_depth=3))
             for data in (dataset, unlabelled)]  # fmt: skip
    monkeypatch.setattr(models, "version", lambda package: "0.0")
    files.append(fitted_file(RandomForest(), dataset))
    assert len(set(files)) == 7


def test_without_scikit_learn_the_cure_is_told(dataset: Dataset, monkeypatch: pytest.MonkeyPatch):
    def absent(package: str) -> str:
        raise models.PackageNotFoundError(package)

    monkeypatch.setattr(models, "version", absent)
    with pytest.raises(MissingExtraError, match=r"needs scikit-learn: pip install 'bandit-forest\[experiments\]'"):
        fitted_file(RandomForest(), dataset)


class Counting:
    """A forest that counts the contexts it is shown."""

    def __init__(self, forest: FlatForest) -> None:
        self.forest, self.n_shown = forest, 0

    def predict(self, contexts: np.ndarray) -> np.ndarray:
        self.n_shown += len(contexts)
        return self.forest.predict(contexts)


def test_the_rewards_of_the_comparator_are_kept_and_extended(dataset: Dataset, tmp_path: Path):
    forest = RandomForest(n_trees=3).fit(dataset, jobs=1, progress=silent)
    path = rewards_file(tmp_path / "forest.npz", 4)
    assert read_rewards(path, 1) is None
    counting = Counting(forest)

    def play(n_events: int) -> list[tuple[int, float]]:
        told: list[tuple[int, float]] = []
        report = lambda *update: told.append(update)  # noqa: E731
        play_comparator(counting, dataset.world(), path, n_events=n_events, seed=4, progress=report)
        return told

    play(15_000)
    expected = earned(forest, dataset, 35_000, seed=4)
    np.testing.assert_array_equal(read_rewards(path, 15_000), expected[:15_000])
    np.testing.assert_array_equal(read_rewards(path, 123), expected[:123])
    assert read_rewards(path, 15_001) is None
    counting.n_shown = 0
    told = play(35_000)
    assert counting.n_shown == 25_000  # of the first 10,000 everything was known
    assert told[-1] == (35_000, pytest.approx(expected.mean()))
    np.testing.assert_array_equal(read_rewards(path, 35_000), expected)


def test_damaged_rewards_are_played_again(dataset: Dataset, tmp_path: Path):
    forest = RandomForest(n_trees=3).fit(dataset, jobs=1, progress=silent)
    path = tmp_path / "rewards.npz"
    path.write_bytes(b"PK no zip file")
    assert read_rewards(path, 1) is None
    play_comparator(forest, dataset.world(), path, n_events=50, seed=0, progress=silent)
    np.testing.assert_array_equal(read_rewards(path, 50), earned(forest, dataset, 50, seed=0))
