"""UCI's data sets, from small files in UCI's formats; from the real ones where they are."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from bandit_forest.errors import DamagedFileError, InvalidArgumentError
from bandit_forest.worlds.datasets import MissingDataError, cache_folder, data_folder, load
from bandit_forest.worlds.datasets.adult import ACTIONS as OCCUPATIONS
from bandit_forest.worlds.datasets.census1990 import PART
from bandit_forest.worlds.packing import pack, unpack

REAL = Path(__file__).parents[4] / "shared" / "data"


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if not (REAL / name).is_file()]
    return pytest.mark.skipif(bool(missing), reason=f"the real data set is not here: {', '.join(missing)}")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test's cache apart from the user's and from other tests'."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("BANDIT_FOREST_DATA", raising=False)
    return tmp_path / "cache" / "bandit-forest"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "data"
    place.mkdir()
    return place


def covtype_text(n_rows: int = 500) -> bytes:
    draws = np.random.default_rng(1)
    numbers = draws.integers(-50, 7000, size=(n_rows, 10))
    flags = draws.integers(0, 2, size=(n_rows, 44))
    flags[:, 20] = 0  # a soil that does not occur keeps its variable
    labels = draws.integers(1, 8, size=(n_rows, 1))
    return "".join(",".join(map(str, row)) + "\n" for row in np.hstack([numbers, flags, labels])).encode()


def write_covtype(folder: Path) -> bytes:
    text = covtype_text()
    (folder / "covtype.data.gz").write_bytes(gzip.compress(text))
    return text


TRAINING = """\
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, Cuba, <=50K
50, Private, 83311, Masters, 14, Divorced, Exec-managerial, Husband, Black, Male, 0, 0, 13, ?, >50K
38, ?, 215646, HS-grad, 9, Divorced, ?, Wife, Other, Female, 0, 0, 40, India, <=50K

"""
TEST = """\
|1x3 Cross validator
25, Private, 226802, 11th, 7, Never-married, Sales, Own-child, Black, Male, 0, 1902, 45, Peru, <=50K.
28, Private, 336951, Masters, 12, Divorced, Sales, Husband, White, Female, 0, 0, 20, Peru, >50K.

"""


def write_adult(folder: Path, training: str = TRAINING, test: str = TEST) -> None:
    (folder / "adult.data").write_text(training)
    (folder / "adult.test").write_text(test)


CENSUS = "caseid,dAge,iClass,iYearsch,iSex\r\n10000,5,0,11,1\r\n10001,6,7,17,0\r\n10002,3,1,0,1\r\n10003,3,1,4,1\r\n"


def test_cover_type_gives_94_variables_whatever_its_rows(folder: Path) -> None:
    text = write_covtype(folder)
    dataset = load("covtype", folder)
    assert (dataset.n_rows, dataset.n_variables, dataset.n_actions) == (500, 94, 7)
    assert dataset.name == "covtype"
    assert "NOT as published by UCI, from covtype.data.gz: 500 rows, 94 variables, 7 actions" in dataset.description
    assert dataset.files == {"covtype.data.gz": hashlib.sha256(text).hexdigest()}
    rows = np.loadtxt(text.decode().splitlines(), delimiter=",", dtype=int)
    np.testing.assert_array_equal(dataset.labels, rows[:, -1] - 1)
    np.testing.assert_array_equal(dataset.contexts[:, 50:], rows[:, 10:54])
    np.testing.assert_array_equal(dataset.contexts[:, :50].reshape(-1, 5).sum(axis=1), 1)
    assert np.abs(dataset.contexts[:, :50].mean(axis=0) - 0.2).max() < 0.01
    assert dataset.variable_names[50:52] == ["Wilderness_Area1", "Wilderness_Area2"]
    assert dataset.variable_names[0].startswith("Elevation < ")


def test_cover_type_may_be_uncompressed(folder: Path) -> None:
    write_covtype(folder)
    compressed = load("covtype", folder)
    (folder / "covtype.data.gz").unlink()
    (folder / "covtype.data").write_bytes(covtype_text())
    np.testing.assert_array_equal(load("covtype", folder).words, compressed.words)


def test_adult_reads_both_parts_and_unknown_occupations_reward_nothing(folder: Path) -> None:
    write_adult(folder)
    dataset = load("adult", folder)
    assert dataset.n_actions == len(OCCUPATIONS) == 14
    assert [OCCUPATIONS[label] if label >= 0 else None for label in dataset.labels] == [
        "Adm-clerical", "Exec-managerial", None, "Sales", "Sales",
    ]  # fmt: skip
    assert not any(name.startswith("occupation") for name in dataset.variable_names)
    on = [
        {name for name, bit in zip(dataset.variable_names, context, strict=True) if bit}
        for context in dataset.contexts.tolist()
    ]
    assert {"workclass = State-gov", "sex = Male", "native-country = Cuba", "capital-gain >= 2000"} <= on[0]
    assert {"income = >50K", "native-country is missing"} <= on[1]
    assert "workclass is missing" in on[2]
    assert "income = >50K" not in on[3]  # the dot after the test part's labels is no part of them
    assert "income = >50K" in on[4]


def test_census_drops_the_row_number_and_takes_codes_as_categories(folder: Path) -> None:
    (folder / "USCensus1990.data.txt").write_text(CENSUS, newline="")
    dataset = load("census1990", folder)
    assert dataset.name == "census1990"
    assert dataset.n_actions == 18
    assert dataset.labels.tolist() == [11, 17, 0, 4]
    assert dataset.variable_names == [
        "dAge = 3", "dAge = 5", "dAge = 6", "iClass = 0", "iClass = 1", "iClass = 7", "iSex = 1",
    ]  # fmt: skip
    assert dataset.contexts.tolist() == [
        [0, 1, 0, 1, 0, 0, 1], [0, 0, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0, 1], [1, 0, 0, 0, 1, 0, 1],
    ]  # fmt: skip


def test_the_part_of_census_is_named_as_a_part_and_the_whole_wins(folder: Path) -> None:
    (folder / PART).write_bytes(gzip.compress(CENSUS.encode()))
    part = load("census1990", folder)
    assert part.name == "census1990-first4"
    assert "only the first 4 rows" in part.description
    (folder / "USCensus1990.data.txt").write_text(CENSUS, newline="")
    assert load("census1990", folder).name == "census1990"


@pytest.mark.parametrize(
    ("name", "file"), [("covtype", "covtype.data.gz"), ("adult", "adult.data"), ("census1990", "USCensus1990.data.txt")]
)
def test_a_missing_file_answers_with_the_cure(folder: Path, name: str, file: str) -> None:
    with pytest.raises(MissingDataError) as refusal:
        load(name, folder)
    message = str(refusal.value)
    assert file in message
    assert f"bandit-forest data fetch {name} --data {folder}" in message
    assert "https://archive.ics.uci.edu/" in message


def test_an_unknown_name_is_refused(folder: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="The 'name' of load must be 'covtype' or 'adult' or 'census1990'"):
        load("iris", folder)


@pytest.mark.parametrize(
    "text",
    [
        b"", b"\n\n", b"1,2,3\n", b"a" + covtype_text(3)[1:], covtype_text(3) + b"1,2\n",
        covtype_text(3).rsplit(b",", 1)[0] + b",8\n", covtype_text(3).rsplit(b",", 1)[0] + b",0\n", b"99999999999\n",
    ],
)  # fmt: skip
def test_a_damaged_cover_type_is_refused(folder: Path, text: bytes) -> None:
    (folder / "covtype.data").write_bytes(text)
    with pytest.raises(DamagedFileError, match=r"covtype\.data cannot be read: "):
        load("covtype", folder)


@pytest.mark.parametrize("cut", [0, 5, 100, -4])
def test_a_truncated_archive_is_refused(folder: Path, cut: int) -> None:
    whole = gzip.compress(covtype_text())
    (folder / "covtype.data.gz").write_bytes(whole[:cut])
    with pytest.raises(DamagedFileError, match=r"covtype\.data\.gz cannot be read: "):
        load("covtype", folder)


@pytest.mark.parametrize(
    ("training", "why"),
    [
        (TRAINING.replace(", Cuba", ""), "line 1 has 14"),
        (TRAINING.replace("Adm-clerical", "Astronaut"), "does not know, 'Astronaut'"),
        (TRAINING.replace("50, Private", "fifty, Private"), "line 2 has a text where a number is needed"),
    ],
)
def test_a_damaged_adult_is_refused(folder: Path, training: str, why: str) -> None:
    write_adult(folder, training)
    with pytest.raises(DamagedFileError, match=why):
        load("adult", folder)


def test_an_empty_adult_is_refused(folder: Path) -> None:
    write_adult(folder, "", "")
    with pytest.raises(DamagedFileError, match="it has no rows"):
        load("adult", folder)


@pytest.mark.parametrize(
    "text", ["", "caseid,dAge\r\n1,2\r\n", "caseid,iYearsch\r\n", CENSUS.replace("17", "18"), CENSUS + "1,2\r\n"]
)
def test_a_damaged_census_is_refused(folder: Path, text: str) -> None:
    (folder / "USCensus1990.data.txt").write_text(text, newline="")
    with pytest.raises(DamagedFileError, match=r"USCensus1990\.data\.txt cannot be read: "):
        load("census1990", folder)


def test_the_second_load_comes_from_the_cache(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_adult(folder)
    first = load("adult", folder)
    monkeypatch.setattr("bandit_forest.worlds.datasets.loading.read_text", None)  # it must not be called again
    second = load("adult", folder)
    assert len(list((cache / "encoded").iterdir())) == 1
    np.testing.assert_array_equal(second.words, first.words)
    np.testing.assert_array_equal(second.labels, first.labels)
    assert second.variable_names == first.variable_names
    for part in ("name", "description", "action_names", "files"):
        assert getattr(second, part) == getattr(first, part)


def test_a_changed_file_is_read_again(folder: Path) -> None:
    write_adult(folder)
    first = load("adult", folder)
    write_adult(folder, TRAINING.replace("Adm-clerical", "Tech-support"))
    assert load("adult", folder).labels.tolist() != first.labels.tolist()


@pytest.mark.parametrize("damage", [lambda old: b"", lambda old: old[:-30], lambda old: old[:700] + b"??" + old[702:]])
def test_a_damaged_cache_is_made_again(folder: Path, cache: Path, damage: object) -> None:
    write_adult(folder)
    first = load("adult", folder)
    (kept,) = (cache / "encoded").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))  # type: ignore[operator]
    np.testing.assert_array_equal(load("adult", folder).words, first.words)
    assert load("adult", folder).description == first.description


def test_a_cache_that_cannot_be_written_does_no_harm(folder: Path, cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be")
    write_adult(folder)
    assert load("adult", folder).n_rows == 5


def test_the_folder_is_the_parameter_then_the_environment_then_the_cache(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_folder() == cache
    assert data_folder() == cache / "data"
    monkeypatch.setenv("BANDIT_FOREST_DATA", str(folder))
    assert data_folder() == folder
    assert data_folder("elsewhere") == Path("elsewhere")
    write_adult(folder)
    assert load("adult").n_rows == 5


@pytest.mark.parametrize(
    ("platform", "ending"),
    [("linux", ".cache/bandit-forest"), ("darwin", "Library/Caches/bandit-forest"), ("win32", "bandit-forest/Cache")],
)
def test_each_system_has_its_cache_folder(monkeypatch: pytest.MonkeyPatch, platform: str, ending: str) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("sys.platform", platform)
    assert cache_folder().as_posix().endswith(ending)


@pytest.mark.parametrize("n_variables", [1, 7, 8, 63, 64, 65, 94, 128, 359])
def test_packing_and_unpacking_agree_with_the_definition(n_variables: int) -> None:
    bits = np.random.default_rng(n_variables).integers(0, 2, size=(50, n_variables), dtype=np.uint8)
    words = pack(bits)
    assert words.shape == (50, -(-n_variables // 64))
    for variable in (0, n_variables // 2, n_variables - 1):
        word, bit = divmod(variable, 64)
        np.testing.assert_array_equal((words[:, word] >> np.uint64(bit)) & np.uint64(1), bits[:, variable])
    np.testing.assert_array_equal(unpack(words, n_variables), bits)


@pytest.mark.slow
@needs("covtype.data.gz")
def test_the_real_cover_type() -> None:
    dataset = load("covtype", REAL)
    assert (dataset.n_rows, dataset.n_variables, dataset.n_actions) == (581_012, 94, 7)
    assert "whole" in dataset.description
    assert np.bincount(dataset.labels).tolist() == [211_840, 283_301, 35_754, 2_747, 9_493, 17_367, 20_510]
    shares = dataset.contexts[:, :50].mean(axis=0)
    assert 0.15 < shares.min() < shares.max() < 0.25  # slopes are whole degrees, and repeat
    np.testing.assert_array_equal(dataset.contexts.sum(axis=1), 12)  # 10 bins, an area and a soil


@needs("adult.data", "adult.test")
def test_the_real_adult() -> None:
    dataset = load("adult", REAL)
    assert (dataset.n_rows, dataset.n_actions) == (48_842, 14)
    assert "whole" in dataset.description
    assert int((dataset.labels < 0).sum()) == 2_809
    assert [name for name in dataset.variable_names if name.startswith("capital-")] == [
        "capital-gain >= 100", "capital-loss >= 155",
    ]  # fmt: skip


@needs(PART)
def test_the_real_part_of_census() -> None:
    dataset = load("census1990", REAL)
    assert (dataset.name, dataset.n_rows, dataset.n_actions) == ("census1990-first15317", 15_317, 18)
    assert sorted(set(dataset.labels.tolist())) == list(range(18))
