"""The experiments as values, the forests that regret is counted against, and the rows of a trial."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from bandit_forest import BanditForest, BanditTree, InvalidArgumentError
from bandit_forest.baselines import Uniform
from bandit_forest.cli import main
from bandit_forest.errors import MissingExtraError
from bandit_forest.experiments import EXPERIMENTS, Experiment, Setting, commands, find, reference_forest
from bandit_forest.experiments.files import remove_parts
from bandit_forest.experiments.making import Place, all_parameters, make_model, make_place, make_player
from bandit_forest.experiments.reference_forest import GreedyForest, RandomForest, fitted_file
from bandit_forest.experiments.reference_rewards import play_reference, read_rewards, rewards_file
from bandit_forest.experiments.routing import FlatForest, TreeArrays
from bandit_forest.experiments.trial import LAST_EVENTS, TrialFiles, play_trial, row_points, write_trial
from bandit_forest.optimal import OptimalForest
from bandit_forest.simulation import simulate
from bandit_forest.worlds import Classification, HiddenTree
from bandit_forest.worlds.datasets import NAMES, Dataset, load

SUMMARIES = ("paper/covtype", "paper/adult", "paper/census1990")
SETTINGS = [(experiment, number) for experiment in EXPERIMENTS.values() for number in range(len(experiment.settings))]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """A Cover Type of 400 rows, in which the first binary columns tell the class."""
    draws = np.random.default_rng(1)
    labels = draws.integers(1, 8, size=(400, 1))
    flags = draws.integers(0, 2, size=(400, 44))
    flags[:, :3] = labels >> np.arange(3) & 1
    rows = np.hstack([draws.integers(0, 9, size=(400, 10)), flags, labels])
    text = "".join(",".join(map(str, row)) + "\n" for row in rows.tolist())
    (tmp_path / "covtype.data.gz").write_bytes(gzip.compress(text.encode()))
    return load("covtype", tmp_path)


@pytest.fixture
def unlabelled(dataset: Dataset) -> Dataset:
    """The same, with many rows that reward no action and a class that never occurs."""
    labels = np.where(dataset.labels == 2, -1, np.where(np.arange(dataset.n_rows) % 2, -1, dataset.labels))
    return Dataset(**(vars(dataset) | {"labels": labels}))


def silent(*_: object) -> None:
    """Take a report of progress."""


def earned(forest: FlatForest, dataset: Dataset, n_events: int, seed: int) -> np.ndarray:
    batches = list(dataset.world().batches(n_events, seed=seed, batch_size=7))
    contexts, rewards = (np.concatenate(part) for part in list(zip(*batches, strict=True))[:2])
    return rewards[np.arange(n_events), forest.predict(contexts)]


# Values with ids


def test_the_experiments_of_the_paper_have_their_ids():
    assert {*SUMMARIES, "paper/depth", "paper/size", "paper/readings"} <= set(EXPERIMENTS)
    assert any(id.startswith("theory/") for id in EXPERIMENTS)
    assert all(experiment.id == id for id, experiment in EXPERIMENTS.items())


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.id)
def test_labels_are_different_and_begin_with_their_family(experiment: Experiment):
    labels = [setting.label for setting in experiment.settings]
    assert len(set(labels)) == len(labels)
    assert all(setting.label.startswith(setting.family) for setting in experiment.settings)


@pytest.mark.parametrize(("experiment", "number"), SETTINGS, ids=[e.setting_id(n) for e, n in SETTINGS])
def test_every_setting_can_be_made(experiment: Experiment, number: int):
    setting: Setting = experiment.settings[number]
    assert find(experiment.setting_id(number)) == (experiment, [number])
    if setting.world.name in NAMES:
        place = Place(world=HiddenTree(n_variables=20, n_actions=3))
    else:
        place = make_place(setting.world, None)
    assert set(setting.policy.parameters) <= set(all_parameters(setting.policy))
    if make_model(setting.policy) is None:
        batch = next(place.world.batches(10, seed=0))
        assert len(make_player(setting.policy, place, seed=3).play(batch.contexts, batch.rewards).actions) == 10


@pytest.mark.parametrize("wrong", ["paper", "paper/covtype/99", "paper/covtype/-1", "paper/covtype/", "", "nothing/0"])
def test_an_unknown_id_is_refused(wrong: str):
    with pytest.raises(InvalidArgumentError, match="The 'id' of run must be one of paper/covtype, "):
        find(wrong)


def test_the_documented_ids_exist_and_all_are_documented():
    page = (Path(__file__).parents[1] / "docs" / "experiments.md").read_text()
    for id in re.findall(r"bandit-forest run ([a-z0-9]+/[a-z0-9/-]+)", page):
        find(id)
    assert set(re.findall(r"^\| `(\w+/[\w-]+)` \|", page, re.MULTILINE)) == set(EXPERIMENTS)


@pytest.mark.parametrize("id", SUMMARIES)
def test_the_paper_s_numbers_stand_beside_the_five_policies_it_compares(id: str):
    published = {setting.label: setting.published for setting in EXPERIMENTS[id].settings if setting.published}
    assert len(published) == 5
    regrets = {label: entry.regret for label, entry in published.items()}
    assert max(regrets, key=regrets.__getitem__) == "Banditron"
    assert regrets["Bandit Forest, depth 10-18"] < regrets["Bandit Tree, depth 8"]


def test_the_preset_is_the_first_of_the_readings():
    preset = BanditForest.paper(n_variables=1, n_actions=2).parameters
    readings = [setting.policy.parameters for setting in EXPERIMENTS["paper/readings"].settings]
    assert readings[0] == {"growth": preset["growth"], "exploration": preset["exploration"]}


def test_the_preset_of_a_tree_is_one_of_the_tolerances():
    preset = {"growth": BanditTree(n_variables=1, n_actions=2).parameters["growth"], "max_depth": 8}
    assert preset in [dict(setting.policy.parameters) for setting in EXPERIMENTS["paper/tolerance"].settings]


def test_all_parameters_tell_the_defaults_and_what_a_preset_sets():
    forest = all_parameters(EXPERIMENTS["paper/covtype"].settings[0].policy)
    assert forest["max_depth"] == (10, 18)
    assert forest["growth"] == BanditForest.paper(n_variables=1, n_actions=2).parameters["growth"]
    assert all_parameters(EXPERIMENTS["paper/covtype"].settings[3].policy).keys() == {"width", "ridge"}


def test_the_seed_of_a_trial_is_the_policy_s():
    setting = EXPERIMENTS["paper/depth"].settings[0]
    place = Place(world=HiddenTree(n_variables=20, n_actions=3))
    assert make_player(setting.policy, place, seed=5).parameters["seed"] == 5


# Commands


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["bandit-forest", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_the_list_of_experiments_names_every_id(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    assert command(monkeypatch, "experiments") == 0
    printed = capsys.readouterr().out
    assert all(id in printed for id in EXPERIMENTS)


def test_fetching_tells_where_the_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    asked = []

    def fetch(name: str, folder: Path, *, progress) -> list[Path]:
        asked.append((name, folder))
        progress(5, 10)
        return [folder / "adult.data", folder / "adult.test"]

    monkeypatch.setattr(commands, "fetch", fetch)
    assert command(monkeypatch, "data", "fetch", "adult", "--data", str(tmp_path)) == 0
    assert asked == [("adult", tmp_path)]
    assert capsys.readouterr().out.splitlines()[-2:] == [str(tmp_path / "adult.data"), str(tmp_path / "adult.test")]


@pytest.mark.parametrize("arguments", [("data", "fetch", "iris"), ("run", "paper/iris")])
def test_unknown_names_are_refused_in_one_line(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    message = command(monkeypatch, *arguments)
    assert message.startswith("bandit-forest: The '")
    assert "iris" in message


# Forests that regret is counted against


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
    monkeypatch.setattr(reference_forest, "version", lambda package: "0.0")
    files.append(fitted_file(RandomForest(), dataset))
    assert len(set(files)) == 7


def test_without_scikit_learn_the_cure_is_told(dataset: Dataset, monkeypatch: pytest.MonkeyPatch):
    def absent(package: str) -> str:
        raise reference_forest.PackageNotFoundError(package)

    monkeypatch.setattr(reference_forest, "version", absent)
    with pytest.raises(MissingExtraError, match=r"needs scikit-learn: pip install 'bandit-forest\[experiments\]'"):
        fitted_file(RandomForest(), dataset)


class Counting:
    """A forest that counts the contexts it is shown."""

    def __init__(self, forest: FlatForest) -> None:
        self.forest, self.n_shown = forest, 0

    def predict(self, contexts: np.ndarray) -> np.ndarray:
        self.n_shown += len(contexts)
        return self.forest.predict(contexts)


def test_the_rewards_of_the_reference_are_kept_and_extended(dataset: Dataset, tmp_path: Path):
    forest = RandomForest(n_trees=3).fit(dataset, jobs=1, progress=silent)
    path = rewards_file(tmp_path / "forest.npz", 4)
    assert read_rewards(path, 1) is None
    counting = Counting(forest)

    def play(n_events: int) -> list[tuple[int, float]]:
        told: list[tuple[int, float]] = []
        report = lambda *update: told.append(update)  # noqa: E731
        play_reference(counting, dataset.world(), path, n_events=n_events, seed=4, progress=report)
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
    play_reference(forest, dataset.world(), path, n_events=50, seed=0, progress=silent)
    np.testing.assert_array_equal(read_rewards(path, 50), earned(forest, dataset, 50, seed=0))


# Trials


@pytest.mark.parametrize("n_events", [1, 7, 100, 12_345, 100_000, 250_500, 10_000_000])
def test_rows_end_with_the_last_event_and_show_the_last_window(n_events: int):
    points = row_points(n_events)
    assert points == sorted(set(points))
    assert points[-1] == n_events
    assert len(points) in (min(n_events, 100), min(n_events, 100) + 1)
    assert n_events <= LAST_EVENTS or n_events - LAST_EVENTS in points


def test_a_trial_tells_the_same_as_a_simulation():
    world = HiddenTree(n_variables=10, n_actions=3, depth=2)
    make = lambda: BanditTree(n_variables=10, n_actions=3, max_depth=2, seed=1)  # noqa: E731
    told: list[tuple[int, float]] = []
    rows = list(play_trial(make(), world, n_events=25_130, seed=2, progress=lambda n, reward: told.append((n, reward))))
    expected = simulate(make(), world, n_events=25_130, seed=2, rows=row_points(25_130))
    assert [row.n_events for row in rows] == [row.n_events for row in expected]
    np.testing.assert_allclose([row.regret for row in rows], [row.regret for row in expected])
    np.testing.assert_allclose([row.reward / row.n_events for row in rows], [row.average_reward for row in expected])
    assert told[-1] == (25_130, pytest.approx(expected[-1].average_reward))
    assert 0 < rows[0].seconds <= rows[-1].seconds


def test_regret_is_counted_against_the_rewards_of_the_reference():
    world = Classification(contexts=[[0, 1], [1, 0], [1, 1]], labels=[0, 1, -1])
    reference = np.random.default_rng(0).integers(0, 2, size=20_000, dtype=np.uint8)
    *_, last = play_trial(
        Uniform(n_variables=2, n_actions=2), world, n_events=20_000, seed=0, reference_rewards=reference,
        progress=silent,
    )  # fmt: skip
    assert last.regret + last.reward == reference.sum()


def test_rows_are_written_as_they_come_and_named_when_all_have_come(tmp_path: Path):
    files = TrialFiles(tmp_path / "rows" / "0.csv", tmp_path / "times" / "0.csv")
    world = HiddenTree(n_variables=5, n_actions=2, depth=1)
    rows = play_trial(Uniform(n_variables=5, n_actions=2), world, n_events=300, seed=0, progress=silent)

    def watched():
        for number, row in enumerate(rows):
            (part,) = files.rows.parent.iterdir()
            assert part.name.endswith(".part")
            assert part.read_text().count("\n") == 1 + number
            yield row

    write_trial(watched(), files)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["0.csv", "0.csv"]
    header, *lines = files.rows.read_text().splitlines()
    assert header == "n_events,regret,reward"
    assert len(lines) == 100
    assert lines[-1].startswith("300,")
    assert files.times.read_text().startswith("n_events,seconds\n3,0.0")


def test_only_parts_of_processes_that_have_ended_are_removed(tmp_path: Path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    for process in (ended.pid, 10**30, os.getpid(), "somebody"):
        (tmp_path / f".0-seed0.csv.{process}.part").touch()
    remove_parts(tmp_path)
    left = {f".0-seed0.csv.{process}.part" for process in (os.getpid(), "somebody")}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_a_trial_that_breaks_off_leaves_no_file(tmp_path: Path):
    def broken():
        yield from ()
        raise RuntimeError("broken off")

    with pytest.raises(RuntimeError, match="broken off"):
        write_trial(broken(), TrialFiles(tmp_path / "rows.csv", tmp_path / "times.csv"))
    assert list(tmp_path.iterdir()) == []
