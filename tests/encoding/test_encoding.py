"""The encoder: which variables it makes, what it does with odd values, and that all its ways in and out agree."""

from __future__ import annotations

import datetime
import json
import math
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from bandit_forest.encoding import Binned, Categorical, ContextEncoder, Numeric
from bandit_forest.errors import InvalidArgumentError, MissingExtraError

TABLE = {
    "age": [20, 30, None, 40, 50.5, 60],
    "city": ["Lannion", None, "Paris", "Lannion", "Brest", "Paris"],
    "member": [True, False, None, True, True, False],
    "visits": [1, 2, 3, 4, 5, 6],
}
ROWS = [dict(zip(TABLE, values, strict=True)) for values in zip(*TABLE.values(), strict=True)]


def fitted(column: list[object], **parameters: object) -> ContextEncoder:
    """Fit the column x beside one that varies, since a context without a variable is refused."""
    return ContextEncoder(**parameters).fit({"x": column, "varies": [0] + [1] * (len(column) - 1)})  # type: ignore[arg-type]


def names(column: list[object], **parameters: object) -> list[str]:
    return fitted(column, **parameters).variable_names[:-1]


def binned(column: list[object], n_bins: int = 5, **parameters: object) -> list[str]:
    return names(column, n_bins=n_bins, **parameters)


def thresholds(column: list[object], **parameters: object) -> tuple[float, ...]:
    return fitted(column, **parameters).thresholds[0]


def test_a_number_is_one_ordered_variable() -> None:
    encoder = fitted([18, 23, 38, 61, 38])
    assert encoder.variable_names == ["x", "varies"]
    assert encoder.thresholds == {0: (23.0, 38.0, 61.0)}
    assert [encoder.encode({"x": x, "varies": 1}).tolist() for x in (-9, 18, 22.9, 23, 40, 61, 1e300)] == [
        [0, 1], [0, 1], [0, 1], [1, 1], [2, 1], [3, 1], [3, 1],
    ]  # fmt: skip


def test_few_numbers_have_a_threshold_each_and_many_have_quantiles() -> None:
    assert thresholds([*range(256)]) == tuple(range(1, 256))
    ages = np.random.default_rng(0).permutation(np.arange(25_600))
    codes = ContextEncoder().fit_transform({"age": ages})
    assert codes.dtype == np.uint8
    assert np.bincount(codes[:, 0]).tolist() == [100] * 256
    assert thresholds([*range(10)], max_thresholds=4) == (2, 4, 6, 8)


def test_a_frequent_number_takes_one_code_and_the_others_share_the_rest() -> None:
    gains = np.concatenate([np.zeros(92_000), np.arange(1.0, 8001)])
    codes = ContextEncoder().fit_transform({"gain": gains})[:, 0]
    counts = np.bincount(codes, minlength=256)
    assert counts[0] == 92_000
    assert counts[1:].min() >= 30
    assert counts[1:].max() <= 33


def test_thresholds_of_whole_numbers_occur_and_others_are_round() -> None:
    assert thresholds([0, 114, 594, 2174]) == (114, 594, 2174)
    assert thresholds([0.1, 0.123456, 0.5234567, 0.9345678]) == (0.12, 0.5, 0.9)
    assert thresholds([1e300, 1.23456789e300, 5.4321e300]) == (1.2e300, 5e300)


def test_one_threshold_makes_a_binary_variable() -> None:
    assert names([10, 20, None]) == ["x >= 20", "x is missing"]
    assert names([*range(10)], max_thresholds=1) == ["x >= 5"]
    assert fitted([10, 20]).thresholds == {}
    assert fitted([10, 20]).encode({"x": 20}).tolist() == [1, 0]


def test_missing_numbers_have_a_variable_of_their_own_and_code_zero() -> None:
    encoder = fitted([1, 2, None, 3])
    assert encoder.variable_names == ["x", "x is missing", "varies"]
    assert encoder.encode({"x": None}).tolist() == encoder.encode({}).tolist() == [0, 1, 0]
    assert encoder.encode({"x": 3}).tolist() == [2, 0, 0]
    assert fitted([1, 2, 2, 3]).encode({"x": None}).tolist() == [0, 0]


def test_thresholds_count_on_after_other_columns() -> None:
    encoder = ContextEncoder().fit({"city": ["a", "b", "c"], "age": [1, 2, None], "height": [1.5, 1.6, 1.7]})
    assert encoder.variable_names == ["city = a", "city = b", "city = c", "age >= 2", "age is missing", "height"]
    assert encoder.thresholds == {5: (1.6, 1.7)}


ODD_NUMBERS = {
    "negative zero": (-0.0, 2),
    "zero": (0, 2),
    "flag": (True, 3),
    "int beyond exact floats": (2**53 + 1, 3),
    "infinite": (math.inf, 4),
    "minus infinite": (-math.inf, 0),
    "decimal": (Decimal("-1.0"), 1),
    "fraction": (Fraction(-1, 3), 1),
    "NumPy float": (np.float32(0.5), 2),
    "NumPy int": (np.int8(-1), 1),
    "NumPy flag": (np.True_, 3),
    "NumPy large int": (np.uint64(2**64 - 1), 4),
    "None": (None, "missing"),
    "NaN": (math.nan, "missing"),
    "NumPy NaN": (np.float32("nan"), "missing"),
    "decimal NaN": (Decimal("nan"), "missing"),
    "signalling NaN": (Decimal("snan"), "missing"),
    "pandas NA": (pd.NA, "missing"),
    "pandas NaT": (pd.NaT, "missing"),
}


@pytest.mark.parametrize("case", ODD_NUMBERS)
def test_odd_numbers(case: str) -> None:
    value, code = ODD_NUMBERS[case]
    encoder = ContextEncoder.from_schema({"x": Numeric(thresholds=[-1, -0.0, 1, 2.0**53 + 2], missing=True)})
    expected = [0, 1] if code == "missing" else [code, 0]
    assert encoder.encode({"x": value}).tolist() == expected
    assert encoder.transform([{"x": value}]).tolist() == [expected]
    assert encoder.transform([{"x": value}, {"x": 0.0}]).tolist() == [expected, [2, 0]]


@pytest.mark.parametrize("value", [10**400, -(10**400), Decimal("1e400"), Fraction(10**400), "5", 1j, [1], b"5"])
def test_what_no_float_can_hold_is_refused(value: object) -> None:
    encoder = ContextEncoder.from_schema({"x": Numeric(thresholds=[1, 2])})
    with pytest.raises(InvalidArgumentError, match=r"The 'x' of ContextEncoder\.encode must be a number, or missing"):
        encoder.encode({"x": value})
    with pytest.raises(
        InvalidArgumentError, match=r"The 'x' of ContextEncoder\.transform must be a number, or missing"
    ):
        encoder.transform([{"x": value}, {"x": 1.0}])


def test_numbers_fall_into_bins_of_equal_frequency() -> None:
    ages = np.random.default_rng(0).permutation(np.arange(1000))
    encoder = ContextEncoder(n_bins=5)
    contexts = encoder.fit_transform({"age": ages})
    assert contexts.dtype == np.uint8
    assert encoder.thresholds == {}
    assert contexts.sum(axis=0).tolist() == [200] * 5
    assert contexts.sum(axis=1).tolist() == [1] * 1000


def test_every_variable_has_a_name_that_can_be_read() -> None:
    assert binned([*range(20, 30)]) == ["x < 22", "x in [22, 24)", "x in [24, 26)", "x in [26, 28)", "x >= 28"]
    assert binned([0.1, 0.123456, 0.5234567, 0.6, 0.9345678, 0.96], n_bins=3) == [
        "x < 0.5",
        "x in [0.5, 0.9)",
        "x >= 0.9",
    ]
    assert binned([0.5234566, 0.5234567], n_bins=3) == ["x >= 0.5234567"]
    assert names(["b", "a", "c", None]) == ["x = a", "x = b", "x = c", "x is missing"]
    assert names(["1", 1, "2", 2]) == ["x = 1", "x = 2", "x = '1'", "x = '2'"]


def test_a_value_that_fills_the_column_is_cut_off_and_nothing_comes_twice() -> None:
    assert binned([0] * 92 + [114, 594, 2174, 3103, 5013, 7298, 15024, 99999]) == ["x >= 100"]
    assert binned([7] * 4 + [8] * 92 + [9] * 4) == ["x < 8", "x in [8, 9)", "x >= 9"]
    assert binned([1, 1, 2, 2, 3, 3]) == ["x < 2", "x in [2, 3)", "x >= 3"]


def test_two_values_stay_one_variable_and_one_value_none() -> None:
    assert names([True, False]) == ["x"]
    assert names([0, 1]) == ["x"]
    assert names([0.0, 1.0, math.nan, 1.0]) == ["x", "x is missing"]
    assert names([10, 20]) == ["x >= 20"]
    assert names(["no", "yes"]) == ["x = yes"]
    assert names([5, 5]) == names(["a", "a"]) == names([None, None]) == names([math.nan, math.nan]) == []
    assert names([5, None]) == names(["a", None]) == ["x is missing"]


def test_codes_are_categories_when_declared_so() -> None:
    assert names([3, 1, 2, 1], columns={"x": "categorical"}) == ["x = 1", "x = 2", "x = 3"]
    assert names([3.0, 1.0, math.nan, 2.5], columns={"x": "categorical"}) == [
        "x = 1", "x = 2.5", "x = 3", "x is missing",
    ]  # fmt: skip
    assert names([0, 1], columns={"x": "numeric"}) == ["x >= 1"]
    assert names([0, 1], columns={"x": Binned(edges=[5, 6])}) == ["x < 5", "x in [5, 6)", "x >= 6"]
    assert names([0, 1], columns={"x": Numeric(thresholds=[5, 6])}) == ["x"]


def test_the_rare_values_share_a_variable() -> None:
    cities = ["Paris"] * 5 + ["Brest"] * 4 + ["Lannion"] * 4 + ["Rennes"] * 3 + ["Nantes", None]
    assert names(cities, max_values=5)[-2:] == ["x = Rennes", "x is missing"]
    assert names(cities, max_values=2) == ["x = Brest", "x = Paris", "x is missing", "x is another value"]
    assert names(cities, max_values=1) == ["x = Paris", "x is missing"]
    assert names([*range(1000), 5, 6], columns={"x": "categorical"}) == ["x = 5", "x = 6", "x is another value"]
    encoder = fitted(cities, max_values=2)
    for city in ("Lannion", "Rennes", "Nantes", "Quimper", 7):
        assert encoder.encode({"x": city, "varies": 0}).tolist() == [0, 0, 0, 1, 0]
    assert encoder.encode({"x": None, "varies": 0}).tolist() == [0, 0, 1, 0, 0]
    assert encoder.encode({"x": "Brest", "varies": 0}).tolist() == [1, 0, 0, 0, 0]


def test_an_identifier_is_refused() -> None:
    identifiers = [f"user {number}" for number in range(101)]
    assert len(names(identifiers[:100])) == 100
    with pytest.raises(InvalidArgumentError, match=r"'x' of ContextEncoder\.fit must be at most 100 different values"):
        names(identifiers)


def test_an_open_choice_of_two_tells_all_values_apart() -> None:
    encoder = ContextEncoder.from_schema({"x": Categorical(values=["no", "yes"], other=True)})
    contexts = encoder.transform({"x": ["no", "yes", "perhaps", None]})
    assert encoder.variable_names == ["x = no", "x = yes", "x is another value"]
    assert contexts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_unseen_and_missing_values() -> None:
    encoder = ContextEncoder(n_bins=3).fit(ROWS)
    on = lambda row: {name for name, bit in zip(encoder.variable_names, encoder.encode(row), strict=True) if bit}  # noqa: E731
    assert on({"age": 1e9, "city": "Rennes", "member": None, "visits": -5}) == {
        "age >= 50", "member is missing", "visits < 3",
    }  # fmt: skip
    assert on({}) == {"age is missing", "city is missing", "member is missing"}
    assert on({"age": math.nan, "city": math.nan, "member": False, "visits": None}) == {
        "age is missing", "city is missing",
    }  # fmt: skip
    assert on({"age": math.inf, "city": "Paris", "member": 1, "visits": Decimal(4), "unknown": object()}) == {
        "age >= 50", "city = Paris", "member", "visits in [3, 5)",
    }  # fmt: skip


FORMS = {
    "dict of lists": TABLE,
    "dict of arrays": {name: np.array(values, dtype=object) for name, values in TABLE.items()},
    "pandas": pd.DataFrame(TABLE),
    "pandas with nulls": pd.DataFrame(TABLE).convert_dtypes(),
    "polars": pl.DataFrame(TABLE, strict=False),
    "polars categorical": pl.DataFrame(TABLE, strict=False).with_columns(pl.col("city").cast(pl.Categorical)),
    "pyarrow": pa.table(TABLE),
    "structured": np.array(
        [tuple(row.values()) for row in ROWS],
        dtype=[("age", "f8"), ("city", "O"), ("member", "O"), ("visits", "i4")],
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_rows_give_the_same(form: str) -> None:
    encoder, other = ContextEncoder(n_bins=3).fit(ROWS), ContextEncoder(n_bins=3).fit(FORMS[form])
    assert other.columns_ == encoder.columns_
    np.testing.assert_array_equal(other.transform(FORMS[form]), encoder.transform(ROWS))


encoders = st.one_of(
    st.builds(ContextEncoder, n_bins=st.integers(2, 6), max_values=st.integers(1, 6)),
    st.builds(ContextEncoder, max_thresholds=st.integers(1, 255), max_values=st.integers(1, 6)),
)
FRAMES = {
    "pandas": pd.DataFrame,
    "pandas with nulls": lambda table: pd.DataFrame(table, dtype=object).convert_dtypes(),
    "polars": lambda table: pl.DataFrame(table, strict=False),
    "pyarrow": pa.table,
}
frame_columns = st.fixed_dictionaries(
    {
        "whole": st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), min_size=5, max_size=5),
        "number": st.lists(st.none() | st.floats(allow_infinity=False), min_size=5, max_size=5),
        "text": st.lists(st.none() | st.sampled_from(["a", "b", "c"]), min_size=5, max_size=5),
        "flag": st.lists(st.none() | st.booleans(), min_size=5, max_size=5),
    }
)


@pytest.mark.parametrize("form", FRAMES)
@settings(max_examples=100, deadline=None)
@given(frame_columns, encoders)
def test_a_frame_is_encoded_as_its_rows_are(form: str, table: dict[str, list[object]], encoder: ContextEncoder) -> None:
    encoder.fit({name: column * 2 for name, column in table.items()} | {"varies": [0, 1] * 5})
    table["varies"] = [1] * 5
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    np.testing.assert_array_equal(encoder.transform(FRAMES[form](table)), [encoder.encode(row) for row in rows])


def test_arrays_of_two_dimensions_and_texts_are_taken() -> None:
    assert ContextEncoder(n_bins=2).fit(np.array([[1, 5], [2, 6], [3, 7]])).variable_names == ["x0 >= 2", "x1 >= 6"]
    assert ContextEncoder().fit({"x": np.array(["a", "b", "c"])}).variable_names == ["x = a", "x = b", "x = c"]


def test_columns_beyond_the_fitted_are_ignored_and_fitted_ones_are_needed() -> None:
    encoder = ContextEncoder().fit({"x": [1, 2, 3]})
    np.testing.assert_array_equal(encoder.transform({"y": [9], "x": [2]}), encoder.transform([{"x": 2}]))
    with pytest.raises(InvalidArgumentError, match="must be a table with the column 'x'"):
        encoder.transform({"y": [1]})
    assert encoder.transform([]).shape == (0, 1)


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(-(2**80), 2**80),
    st.floats(allow_infinity=False),
    st.text(max_size=2),
)
mixed_columns = st.one_of(
    st.lists(values, min_size=6, max_size=6),
    st.lists(st.one_of(st.none(), st.integers(0, 4), st.floats(-1, 1)), min_size=6, max_size=6),
    st.lists(st.sampled_from(["a", "b", None]), min_size=6, max_size=6),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(mixed_columns, min_size=1, max_size=3), st.lists(values, min_size=3, max_size=3), encoders)
def test_one_row_and_many_rows_agree_and_survive_json(
    columns: list[list[object]], other: list[object], encoder: ContextEncoder
) -> None:
    table = {"varies": [0, 1] * 3} | {f"c{place}": column for place, column in enumerate(columns)}
    encoder.fit({name: column * 2 for name, column in table.items()})  # no value comes only once, as identifiers do
    contexts = encoder.transform(table)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    np.testing.assert_array_equal(contexts, [encoder.encode(row) for row in rows])
    np.testing.assert_array_equal(contexts, encoder.transform(rows))
    highest = [len(encoder.thresholds.get(number, (0.5,))) for number in range(encoder.n_variables)]
    assert (contexts <= highest).all()
    again = ContextEncoder.from_json(encoder.to_json())
    assert again.columns_ == encoder.columns_
    assert again.variable_names == encoder.variable_names
    assert again.thresholds == encoder.thresholds
    assert again.to_json() == encoder.to_json()
    row = {f"c{place}": value for place, value in enumerate(other)}
    assert outcome_of(encoder, row) == outcome_of(again, row)


def outcome_of(encoder: ContextEncoder, row: dict[str, object]) -> object:
    """Encode a row both ways, which must agree, also in refusing it."""
    try:
        one = encoder.encode(row).tolist()
    except InvalidArgumentError:
        with pytest.raises(InvalidArgumentError):
            encoder.transform([row])
        return None
    assert one == encoder.transform([row])[0].tolist()
    return one


numbers = st.one_of(st.integers(-5, 5), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))


@settings(max_examples=300, deadline=None)
@given(st.lists(numbers, min_size=3, max_size=30), st.lists(numbers, min_size=2, max_size=8), st.integers(1, 255))
def test_codes_are_ordered_as_numbers_are(column: list[float], others: list[float], max_thresholds: int) -> None:
    encoder = fitted(column, max_thresholds=max_thresholds, columns={"x": "numeric"})
    assume(encoder.n_variables == 2)  # a column that does not vary has no variable
    highest = len(encoder.thresholds.get(0, (0.5,)))
    codes = [int(encoder.encode({"x": number})[0]) for number in sorted(others)]
    assert codes == sorted(codes)
    assert all(0 <= code <= highest for code in codes)
    fitted_codes = {int(encoder.encode({"x": number})[0]) for number in column}
    assert fitted_codes == set(range(highest + 1))  # no code is empty
    if len({float(number) for number in column}) <= max_thresholds + 1:
        assert len(fitted_codes) == len({float(number) for number in column})


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 9), st.floats(0, 9)), min_size=2, max_size=40), st.integers(2, 7))
def test_no_variable_is_constant_and_none_repeats_another(column: list[object], n_bins: int) -> None:
    for encoder in (ContextEncoder(n_bins=n_bins), ContextEncoder(max_thresholds=n_bins)):
        contexts = encoder.fit_transform({"varies": [0] + [1] * (len(column) - 1), "x": column})[:, 1:]
        patterns = [tuple(variable ^ variable[0]) for variable in contexts.T]  # a complement has the same pattern
        assert all(any(pattern) for pattern in patterns)
        assert len(set(patterns)) == len(patterns)
        assert contexts.shape[1] <= (n_bins + 1 if encoder.n_bins else 2)


def test_a_schema_needs_no_rows() -> None:
    schema = {
        "height": Numeric(thresholds=[1.5, 1.7], missing=True),
        "age": Binned(edges=[30, 50], missing=True),
        "city": Categorical(values=["Paris", "Lannion", "Brest"]),
        "vip": Categorical(values=["gold"]),
        "member": Categorical(values=[False, True]),
    }
    encoder = ContextEncoder.from_schema(schema)
    assert encoder.thresholds == {0: (1.5, 1.7)}
    assert encoder.variable_names == [
        "height", "height is missing", "age < 30", "age in [30, 50)", "age >= 50", "age is missing",
        "city = Paris", "city = Lannion", "city = Brest", "vip = gold", "member",
    ]  # fmt: skip
    assert encoder.encode({"height": 2, "age": 30, "city": "Brest", "vip": "gold", "member": True}).tolist() == [
        2, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1,
    ]  # fmt: skip


def test_the_encoded_row_is_a_context_of_its_own() -> None:
    encoder = ContextEncoder().fit(ROWS)
    first = encoder.encode(ROWS[0])
    first[:] = 1
    assert encoder.encode(ROWS[0]).tolist() != first.tolist()


DOCUMENT = ContextEncoder().fit(ROWS).to_json()
VERSION_1 = """{"format": "bandit-forest context encoder", "version": 1, "columns": [
  {"name": "age", "kind": "numeric", "edges": [30.0, 50.0], "missing": true},
  {"name": "city", "kind": "categorical", "values": ["Brest", "Lannion", "Paris"], "missing": false},
  {"name": "member", "kind": "categorical", "values": [false, true], "missing": true}]}"""


def test_a_document_of_version_1_means_what_it_meant() -> None:
    encoder = ContextEncoder.from_json(VERSION_1)
    assert encoder.columns_["age"] == Binned(edges=(30, 50), missing=True)
    assert encoder.thresholds == {}
    assert encoder.variable_names == [
        "age < 30", "age in [30, 50)", "age >= 50", "age is missing",
        "city = Brest", "city = Lannion", "city = Paris", "member", "member is missing",
    ]  # fmt: skip
    assert encoder.encode({"age": 42, "city": "Rome", "member": True}).tolist() == [0, 1, 0, 0, 0, 0, 0, 1, 0]
    again = ContextEncoder.from_json(encoder.to_json())
    assert again.columns_ == encoder.columns_


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), r"'\$\.format'"),
        (lambda d: d.update(version=3), r"'\$\.version' .* must be 1 or 2"),
        (lambda d: d.update(version=2.0), r"'\$\.version'"),
        (lambda d: d.update(version=1), r"a list 'edges'"),
        (lambda d: d["columns"][0].update(kind="binned"), r"a list 'edges'"),
        (lambda d: d["columns"][0].update(thresholds=[*range(256)]), r"at most 255 numbers"),
        (lambda d: d["columns"][1].update(other=0), r"'other' of Categorical must be a bool"),
        (lambda d: d.update(version=True), r"'\$\.version'"),
        (lambda d: d.pop("version"), r"'\$\.version'"),
        (lambda d: d.update(columns={}), r"'\$\.columns'"),
        (lambda d: d.update(columns=[]), "at least one takes different values"),
        (lambda d: d["columns"].append(d["columns"][0]), r"'\$\.columns\[4\]\.name' .* a new name"),
        (lambda d: d["columns"].append(5), r"'\$\.columns\[4\]'"),
        (lambda d: d["columns"][0].update(name=3), r"'\$\.columns\[0\]'"),
        (lambda d: d["columns"][0].update(kind="odd"), r"'\$\.columns\[0\]\.kind'"),
        (lambda d: d["columns"][0].update(kind=[]), r"'\$\.columns\[0\]\.kind'"),
        (lambda d: d["columns"][0].update(extra=1), r"'\$\.columns\[0\]'"),
        (lambda d: d["columns"][0].update(thresholds=[2, 1]), r"increasing finite numbers.* At \$\.columns\[0\]"),
        (lambda d: d["columns"][0].update(thresholds=["1"]), r"'thresholds' of Numeric"),
        (lambda d: d["columns"][0].update(thresholds="12"), r"a list 'thresholds'"),
        (lambda d: d["columns"][0].update(missing=1), r"'missing' of Numeric must be a bool"),
        (lambda d: d["columns"][1].update(values=["a", "a"]), r"different texts"),
        (lambda d: d["columns"][1].update(values=[["a"]]), r"'values' of Categorical"),
    ],
)
def test_a_document_that_is_wrong_is_refused(change: object, message: str) -> None:
    document = json.loads(DOCUMENT)
    change(document)  # type: ignore[operator]
    with pytest.raises(InvalidArgumentError, match=message):
        ContextEncoder.from_json(json.dumps(document))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", "{", DOCUMENT[:-5], b"\xff", None, 3, '{"format": NaN}', "[" * 100_000]
)
def test_a_text_that_is_no_document_is_refused(text: object) -> None:
    with pytest.raises(InvalidArgumentError, match=r"ContextEncoder\.from_json must be"):
        ContextEncoder.from_json(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "rows",
    [
        3, None, "text", [1, 2], [], {}, {"x": []}, {"x": 5}, {"x": "text"}, {"x": [1, 2], "y": [1]}, {3: [1, 2]},
        np.zeros(3), np.zeros((2, 2), dtype=complex), {"x": np.zeros((2, 2))}, {"x": [[1], [2]]}, {"x": [b"a", b"b"]},
        {"x": np.array(["2020-01-01"], dtype="M8[D]")}, {"x": [1.0, math.inf]}, {"x": [object(), object()]},
        {"x": [1, 1]}, pl.DataFrame({"x": [datetime.date(2020, 1, 1)]}), pl.DataFrame({"x": [[1], [2]]}),
        pl.LazyFrame({"x": [1, 2]}), pl.Series([1, 2]),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_fitted_are_refused(rows: object) -> None:
    with pytest.raises(InvalidArgumentError, match=r"of ContextEncoder\.fit must be"):
        ContextEncoder().fit(rows)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_bins": 1},
        {"n_bins": 2.5},
        {"max_thresholds": 0},
        {"max_thresholds": 256},
        {"max_values": 0},
        {"columns": 3},
        {"columns": {"age": "odd"}},
        {"columns": {"nowhere": "numeric"}},
    ],
)
def test_wrong_parameters_are_refused_by_fit(parameters: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError, match=r"of ContextEncoder\.fit must be"):
        ContextEncoder(**parameters).fit(ROWS)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", [{"age": "20"}, {"age": [1]}, {"city": ["Paris"]}, {"age": 1j}, {"age": 10**400}])
def test_one_row_with_a_wrong_value_is_refused_and_names_the_column(row: dict[str, object]) -> None:
    encoder = ContextEncoder().fit(ROWS)
    with pytest.raises(InvalidArgumentError, match=rf"The '{next(iter(row))}' of ContextEncoder\.encode must be"):
        encoder.encode(row)
    with pytest.raises(InvalidArgumentError, match=rf"The '{next(iter(row))}' of ContextEncoder\.transform must be"):
        encoder.transform([row])


def test_what_is_no_row_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="must be a mapping from column to value"):
        ContextEncoder().fit(ROWS).encode([1, 2])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="must be a mapping from names to columns"):
        ContextEncoder.from_schema({"x": "numeric"})  # type: ignore[dict-item]


@pytest.mark.parametrize("call", ["transform", "encode"])
def test_an_encoder_that_is_not_fitted_says_how_to_fit_it(call: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"not fitted yet: call fit\(rows\)"):
        getattr(ContextEncoder(), call)({})


def test_conventions_of_scikit_learn() -> None:
    encoder = ContextEncoder(n_bins=3, columns={"age": "numeric"}).fit(ROWS)
    copy = clone(encoder)
    assert copy.get_params() == encoder.get_params() == {
        "n_bins": 3, "max_thresholds": 255, "max_values": 100, "columns": {"age": "numeric"},
    }  # fmt: skip
    assert not hasattr(copy, "columns_")
    assert copy.set_params(n_bins=4) is copy
    assert copy.n_bins == 4
    with pytest.raises(InvalidArgumentError, match="'n_bins', 'max_thresholds'"):
        copy.set_params(bins=4)
    assert encoder.get_feature_names_out().tolist() == encoder.variable_names
    assert encoder.n_features_in_ == 4
    assert encoder.feature_names_in_.tolist() == list(TABLE)
    np.testing.assert_array_equal(copy.fit_transform(ROWS), copy.transform(ROWS))
    again = pickle.loads(pickle.dumps(encoder))
    assert again.encode(ROWS[0]).tolist() == encoder.encode(ROWS[0]).tolist()


def test_it_works_in_a_pipeline() -> None:
    numbers = np.random.default_rng(3).normal(size=(300, 4))
    labels = (numbers[:, 1] > 0.8).astype(int)
    pipeline = clone(make_pipeline(ContextEncoder(n_bins=10), DecisionTreeClassifier(random_state=0)))
    assert pipeline.fit(numbers, labels).score(numbers, labels) > 0.95
    assert len(pipeline[:-1].get_feature_names_out()) == 40


def test_without_narwhals_a_frame_is_refused_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'bandit-forest\[frames\]'"):
        ContextEncoder().fit(FORMS["pandas"])
    with pytest.raises(InvalidArgumentError, match="must be a list of dicts"):
        ContextEncoder().fit(3)
    assert ContextEncoder().fit(ROWS).n_variables > 0


def test_importing_the_encoder_imports_no_optional_library() -> None:
    program = (
        "import sys, bandit_forest.encoding\n"
        "print(sorted({'narwhals', 'pandas', 'polars', 'pyarrow', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
