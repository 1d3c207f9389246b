"""A saved forest goes on as if it had never stopped; a damaged file is refused; a kill leaves the old file whole."""

import copy
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bandit_forest import (
    BanditForest,
    BanditTree,
    DamagedFileError,
    Elimination,
    Greedy,
    InvalidArgumentError,
    archive,
    atomic,
)
from bandit_forest.errors import OutdatedFileError
from bandit_forest.forest.file import restore_forest
from bandit_forest.rules import RoundRobin, UniformOverRemaining

pytestmark = pytest.mark.core

GOLDEN = Path(__file__).parents[1] / "golden"
GROWTH = Elimination(delta=0.5, tolerance=(0.4, 0.8), remaining_actions="path", estimate="weights", test_interval=8)


def make_forest(**changes):
    parameters = {
        "n_variables": 20,
        "n_actions": 3,
        "n_trees": 5,
        "max_depth": (1, 3),
        "growth": GROWTH,
        "exploration": UniformOverRemaining(draw="tree", quorum=0.5),
        "seed": 11,
    }
    return BanditForest(**(parameters | changes))


def stream(n_events, seed=0, n_variables=20, n_actions=3):
    rng = np.random.default_rng(seed)
    contexts = rng.integers(0, 2, (n_events, n_variables), dtype=np.uint8)
    means = np.full((n_events, n_actions), 0.1)
    means[np.arange(n_events), contexts[:, 3] + contexts[:, 7]] = 0.9
    return contexts, (rng.random(means.shape) < means).astype(float)


def grown_forest(**changes):
    forest = make_forest(**changes)
    forest.play(*stream(5000))
    return forest


def assert_continue_alike(one, other):
    contexts, rewards = stream(5000, seed=1)
    for mine, theirs in zip(one.play(contexts, rewards), other.play(contexts, rewards), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert pickle.dumps(one) == pickle.dumps(other)


@pytest.mark.parametrize("exploration", [RoundRobin(), UniformOverRemaining(draw="union", quorum=0.2)])
def test_a_loaded_forest_continues_as_if_it_had_never_stopped(tmp_path, exploration):
    forest = grown_forest(exploration=exploration)
    forest.save(tmp_path / "forest.bf")
    loaded = BanditForest.load(tmp_path / "forest.bf")
    assert loaded.parameters == forest.parameters
    assert loaded.n_events == 5000
    assert_continue_alike(forest, loaded)


def test_saving_often_changes_nothing(tmp_path):
    straight, interrupted = make_forest(), make_forest()
    contexts, rewards = stream(2000)
    straight.play(contexts, rewards)
    for start in range(0, 2000, 250):
        interrupted.play(contexts[start : start + 250], rewards[start : start + 250])
        interrupted.save(tmp_path / "forest.bf")
        interrupted = BanditForest.load(tmp_path / "forest.bf")
    assert pickle.dumps(straight) == pickle.dumps(interrupted)


def test_copies_and_pickles_continue_alike_and_apart():
    forest = grown_forest()
    before = pickle.dumps(forest)
    copied = copy.deepcopy(forest)
    copied.play(*stream(10, seed=5))
    assert pickle.dumps(forest) == before
    assert_continue_alike(forest, pickle.loads(before))


@pytest.mark.parametrize("made_again", [copy.copy, copy.deepcopy])
def test_a_copy_keeps_the_threads_and_is_apart(made_again):
    forest = BanditForest(n_variables=20, n_actions=3, n_trees=32, n_threads=2)
    forest.play(*stream(500))
    before = pickle.dumps(forest)
    copied = made_again(forest)
    copied.play(*stream(10, seed=5))
    assert pickle.dumps(forest) == before
    assert copied._n_threads == 2
    assert pickle.loads(before)._n_threads == 1
    assert_continue_alike(forest, made_again(forest))


def test_a_tree_is_loaded_as_a_tree_and_names_are_kept(tmp_path):
    names = [f"feature {number}" for number in range(20)]
    tree = BanditTree(n_variables=20, n_actions=3, max_depth=2, growth=GROWTH, variable_names=names)
    tree.play(*stream(3000))
    tree.save(tmp_path / "tree.bf")
    loaded = BanditForest.load(tmp_path / "tree.bf")
    assert isinstance(loaded, BanditTree)
    assert loaded.tree(0).to_text() == tree.tree(0).to_text()
    assert "feature " in loaded.tree(0).to_text()
    make_forest().save(tmp_path / "forest.bf")
    with pytest.raises(DamagedFileError, match="holds a BanditForest, not a BanditTree"):
        BanditTree.load(tmp_path / "forest.bf")


@pytest.mark.parametrize("name", ["format-1", "format-2", "format-2-greedy"])
def test_the_golden_files_are_still_read(name):
    """Made by `tests/golden/make.py` with each format; decisions that follow must never change."""
    forest = BanditForest.load(GOLDEN / f"{name}.bf")
    played = forest.play(*stream(200, seed=2))
    expected = np.load(GOLDEN / f"{name}-continued.npz")
    np.testing.assert_array_equal(played.actions, expected["actions"])
    np.testing.assert_array_equal(played.propensities, expected["propensities"])


def test_a_default_forest_of_format_1_is_refused_with_the_way_out():
    with pytest.raises(OutdatedFileError, match="learn"):
        BanditForest.load(GOLDEN / "format-1-greedy.bf")


@pytest.fixture(scope="module")
def saved():
    return grown_forest()._to_bytes()


@pytest.fixture(scope="module")
def saved_greedily():
    """A default forest just before it grows: with leaves that are due."""
    forest = BanditForest(
        n_variables=20, n_actions=3, n_trees=3, growth=Greedy(min_events=10, log_capacity=256), seed=2
    )
    forest.play(*stream(64 * 12 - 1))
    return forest._to_bytes()


@settings(max_examples=200, deadline=None, derandomize=True)
@given(data=st.data())
def test_truncated_files_are_refused(saved, data):
    size = data.draw(st.integers(0, len(saved) - 1))
    with pytest.raises(DamagedFileError, match=r"'forest\.bf' is (truncated|not a saved forest)"):
        archive.unpack(saved[:size] if size else b"", "forest.bf")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data())
def test_flipped_bits_are_refused(saved, data):
    position = data.draw(st.integers(0, len(saved) - 1))
    altered = bytearray(saved)
    altered[position] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(DamagedFileError, match=r"^'forest\.bf' "):
        archive.unpack(bytes(altered), "forest.bf")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data())
def test_arrays_that_no_forest_could_have_written_never_crash(saved, data):
    """An altered file with a fitting checksum is refused or is a forest that still works."""
    check_altered(*archive.unpack(saved, "forest.bf"), data)


@settings(max_examples=600, deadline=None, derandomize=True)
@given(data=st.data())
def test_arrays_that_no_greedy_forest_could_have_written_never_crash(saved_greedily, data):
    check_altered(*archive.unpack(saved_greedily, "forest.bf"), data)


def check_altered(header, arrays, data):
    altered = bytearray(arrays)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(arrays) - 1))
        altered[position] = data.draw(st.integers(0, 255))
    with suppress(DamagedFileError):
        restore_forest(BanditForest, header, bytes(altered), name="forest.bf").play(*stream(200, seed=3))


def test_a_number_of_events_that_would_overflow_is_refused(saved):
    header, arrays = archive.unpack(saved, "forest.bf")
    altered = arrays[:16] + struct.pack("<Q", 2**64 - 5) + arrays[24:]
    with pytest.raises(DamagedFileError, match="more events than there can be"):
        restore_forest(BanditForest, header, altered, name="forest.bf")


@pytest.mark.parametrize(
    ("at", "number"),
    [
        pytest.param(16, 77, id="other number of events than the log"),
        pytest.param(-49, 1, id="turn of a tree that is not there"),
        pytest.param(-33, 2**20, id="renewal from events to come"),
        pytest.param(-25, 2**20, id="renewal of events to come"),
        pytest.param(-17, 1, id="work that no renewal does"),
        pytest.param(-9, 2**20, id="renewal that has learned events to come"),
    ],
)
def test_numbers_of_a_greedy_forest_must_fit_one_another(at, number):
    """Without a linear part a file ends with the renewal: turn, balance, first, last, work, learned, and one byte."""
    growth = Greedy(min_events=2, renewal_work=1, linear=False)
    forest = BanditForest(n_variables=20, n_actions=3, n_trees=1, growth=growth, seed=1)
    forest.play(*stream(200))
    header, arrays = archive.unpack(forest._to_bytes(), "forest.bf")
    assert arrays[-1] == 1, "no renewal is under way"
    at %= len(arrays)
    changed = arrays[:at] + struct.pack("<Q", number) + arrays[at + 8 :]
    with pytest.raises(DamagedFileError, match="is damaged"):
        restore_forest(BanditForest, header, changed, name="forest.bf")


def test_foreign_and_future_files_are_refused(tmp_path, saved):
    path = tmp_path / "forest.bf"
    path.write_bytes(b"PK\x03\x04 not a forest")
    with pytest.raises(DamagedFileError, match="is not a saved forest"):
        BanditForest.load(path)
    path.write_bytes(b"")
    with pytest.raises(DamagedFileError, match="is truncated"):
        BanditForest.load(path)
    body = archive.MAGIC + struct.pack("<I", 99) + saved[len(archive.MAGIC) + 4 : -32]
    path.write_bytes(body + archive.hashlib.sha256(body).digest())
    with pytest.raises(DamagedFileError, match=r"format version 99.*install a newer bandit-forest"):
        BanditForest.load(path)


HEADERS = [b"{", b"[]", b"[" * 100_000, b"\xff", b"{}", b'{"policy": []}', b'{"parameters": {"growth": null}}']


@pytest.mark.parametrize("text", HEADERS, ids=range(len(HEADERS)))
def test_altered_headers_are_refused(text):
    """A file with a fitting checksum and any header at all."""
    body = archive.MAGIC + struct.pack("<IQQ", 1, len(text), 0) + text
    data = body + archive.hashlib.sha256(body).digest()
    with pytest.raises(DamagedFileError, match=r"^'forest\.bf' "):
        restore_forest(BanditForest, *archive.unpack(data, "forest.bf"), name="forest.bf")


def test_a_clock_in_an_old_header_is_read_if_it_is_the_path_s(saved):
    header, arrays = archive.unpack(saved, "forest.bf")
    growth = header["parameters"]["growth"]
    header["parameters"]["growth"] = growth | {"clock": "path"}
    assert_continue_alike(restore_forest(BanditForest, header, arrays, name="forest.bf"), grown_forest())
    header["parameters"]["growth"] = growth | {"clock": "forest"}
    with pytest.raises(DamagedFileError, match=r"grew by a rule of version 0.1 that is gone"):
        restore_forest(BanditForest, header, arrays, name="forest.bf")
    header["parameters"]["growth"] = growth | {"estimate": "geometric"}
    with pytest.raises(DamagedFileError, match=r"must be one of 'plays', 'visits', 'scaled', 'weights'"):
        restore_forest(BanditForest, header, arrays, name="forest.bf")


class NamedForest(BanditForest):
    """What a user may derive."""


def test_a_subclass_is_saved_loaded_and_copied_as_itself(tmp_path):
    forest = NamedForest(n_variables=20, n_actions=3)
    forest.save(tmp_path / "forest.bf")
    assert type(NamedForest.load(tmp_path / "forest.bf")) is NamedForest
    assert type(copy.deepcopy(forest)) is NamedForest


def test_saving_keeps_mode_and_links_and_takes_long_names(tmp_path):
    path, link = tmp_path / ("a" * 240), tmp_path / "link"
    make_forest().save(path)
    path.chmod(0o600)
    link.symlink_to(path)
    make_forest().save(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600


def test_rules_of_any_kind_of_number_are_saved(tmp_path):
    growth = Greedy(min_events=np.int64(50), min_gain=np.float32(6), shrinkage=Fraction(1, 2))
    BanditForest(n_variables=3, n_actions=2, growth=growth).save(tmp_path / "forest.bf")
    assert BanditForest.load(tmp_path / "forest.bf").parameters["growth"] == growth


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    path = tmp_path / "forest.bf"
    make_forest().save(path)
    before = path.read_bytes()

    def full_disk(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        grown_forest().save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["forest.bf"]


SAVE_FOREVER = """
import sys
from bandit_forest import BanditForest
forest = BanditForest(n_variables=200, n_actions=20, n_trees=50)
forest.save(sys.argv[1])
print("ready", flush=True)
while True:
    forest.save(sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_kill_during_save_leaves_a_whole_file(tmp_path):
    path = tmp_path / "forest.bf"
    rng = np.random.default_rng(0)
    for _ in range(8):
        process = subprocess.Popen([sys.executable, "-c", SAVE_FOREVER, path], stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(float(rng.uniform(0.0, 0.05)))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert BanditForest.load(path).n_trees == 50


def test_threads_that_a_forest_cannot_have_are_no_damage(tmp_path):
    BanditForest.paper(n_variables=3, n_actions=2).save(tmp_path / "paper.bf")
    with pytest.raises(InvalidArgumentError, match="'n_threads' of BanditForest must be 1 with elimination"):
        BanditForest.load(tmp_path / "paper.bf", n_threads=2)
