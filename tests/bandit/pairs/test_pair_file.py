"""A saved PairBandit: the golden file goes on as it did, and a file that was cut or altered is refused."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bandit_forest import DamagedFileError, PairBandit, archive
from bandit_forest.bandit.pairs.file import VERSION
from golden.pairs.make_pairs import continued

GOLDEN = Path(__file__).parents[2] / "golden" / "pairs"

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def saved():
    return (GOLDEN / f"version-{VERSION}.bandit").read_bytes()


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_golden_files_are_still_read_and_go_on_as_they_did(version):
    """Made by `tests/golden/pairs/make_pairs.py`; decisions that follow must never change."""
    expected = json.loads((GOLDEN / f"version-{version}-continued.json").read_text())
    bandit = PairBandit.load(GOLDEN / f"version-{version}.bandit")
    assert bandit.version == 600
    assert bandit.reward_range == (0.0, 10.0)
    assert [list(pair) for pair in continued(bandit, 100, seed=1)] == expected


def test_what_is_loaded_and_saved_is_the_same(saved):
    completed = PairBandit.from_bytes(saved).to_bytes()  # with parameters that older files do not name
    assert PairBandit.from_bytes(completed).to_bytes() == completed


@settings(max_examples=100, deadline=None, derandomize=True)
@given(data=st.data())
def test_truncated_files_are_refused(saved, data):
    size = data.draw(st.integers(0, len(saved) - 1))
    with pytest.raises(DamagedFileError, match=r"'a\.bandit' is (truncated|not a saved forest)"):
        PairBandit.from_bytes(saved[:size], "a.bandit")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(data=st.data())
def test_flipped_bits_are_refused(saved, data):
    altered = bytearray(saved)
    altered[data.draw(st.integers(0, len(saved) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(DamagedFileError, match=r"^'a\.bandit' "):
        PairBandit.from_bytes(bytes(altered), "a.bandit")


@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data())
def test_arrays_that_no_bandit_could_have_written_never_crash(saved, data):
    """An altered file with a fitting checksum is refused, or is a bandit that still works."""
    header, arrays = archive.unpack(saved, "a.bandit")
    altered = bytearray(arrays)
    for _ in range(data.draw(st.integers(1, 4))):
        altered[data.draw(st.integers(0, len(arrays) - 1))] = data.draw(st.integers(0, 255))
    with suppress(DamagedFileError):
        continued(PairBandit.from_bytes(archive.pack(header, bytes(altered)), "a.bandit"), 50, seed=3)
