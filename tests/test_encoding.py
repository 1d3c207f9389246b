"""The encoder: which variables it makes, what it does with odd values, and that all its ways in and out agree."""

from __future__ import annotations

import datetime
import json
import math
import pickle
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from bandit_forest.encoding import Categorical, ContextEncoder, Numeric
from bandit_forest.errors import InvalidArgumentError, MissingExtraError

TABLE = {
    "age": [20, 30, None, 40, 50.5, 60],
    "city": ["Lannion", None, "Paris", "Lannion", "Brest", "Paris"],
    "member": [True, False, None, True, True, False],
    "visits": [1, 2, 3, 4, 5, 6],
}
ROWS = [dict(zip(TABLE, values, strict=True)) for values in zip(*TABLE.values(), strict=True)]


def names(column: list[object], **parameters: object) -> list[str]:
    return ContextEncoder(**parameters).fit({"x": column, "varies": [0, 1] * (len(column) // 2)}).variable_names[:-1]


def test_numbers_fall_into_bins_of_equal_frequency() -> None:
    ages = np.random.default_rng(0).permutation(np.arange(1000))
    contexts = ContextEncoder().fit_transform({"age": ages})
    assert contexts.dtype == np.uint8
    assert contexts.sum(axis=0).tolist() == [200] * 5
    assert contexts.sum(axis=1).tolist() == [1] * 1000


def test_every_variable_has_a_name_that_can_be_read() -> None:
    assert names([*range(20, 30)]) == ["x < 22", "x in [22, 24)", "x in [24, 26)", "x in [26, 28)", "x >= 28"]
    assert names([0.1, 0.123456, 0.5234567, 0.6, 0.9345678, 0.96], n_bins=3) == [
        "x < 0.5",
        "x in [0.5, 0.9)",
        "x >= 0.9",
    ]
    assert names([0.5234566, 0.5234567], n_bins=3) == ["x >= 0.5234567"]
    assert names(["b", "a", "c", None]) == ["x = a", "x = b", "x = c", "x is missing"]
    assert names(["1", 1, "2", 2]) == ["x = 1", "x = 2", "x = '1'", "x = '2'"]


def test_a_value_that_fills_the_column_is_cut_off_and_nothing_comes_twice() -> None:
    assert names([0] * 92 + [114, 594, 2174, 3103, 5013, 7298, 15024, 99999]) == ["x >= 100"]
    assert names([7] * 4 + [8] * 92 + [9] * 4) == ["x < 8", "x in [8, 9)", "x >= 9"]
    assert names([1, 1, 2, 2, 3, 3]) == ["x < 2", "x in [2, 3)", "x >= 3"]


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
    assert names([0, 1], columns={"x": Numeric(edges=[5, 6])}) == ["x < 5", "x in [5, 6)", "x >= 6"]


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


def test_arrays_of_two_dimensions_and_texts_are_taken() -> None:
    assert ContextEncoder(n_bins=2).fit(np.array([[1, 5], [2, 6], [3, 7]])).variable_names == ["x0 >= 2", "x1 >= 6"]
    assert ContextEncoder().fit({"x": np.array(["a", "b", "c"])}).variable_names == ["x = a", "x = b", "x = c"]


def test_columns_beyond_the_fitted_are_ignored_and_fitted_ones_are_needed() -> None:
    encoder = ContextEncoder().fit({"x": [1, 2, 3]})
    np.testing.assert_array_equal(encoder.transform({"y": [9], "x": [2]}), encoder.transform([{"x": 2}]))
    with pytest.raises(InvalidArgumentError, match="must be a table with the column 'x'"):
        encoder.transform({"y": [1]})
    assert encoder.transform([]).shape == (0, 3)


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


@settings(max_examples=200, deadline=None)
@given(st.lists(mixed_columns, min_size=1, max_size=3), st.lists(values, min_size=3, max_size=3), st.integers(2, 6))
def test_one_row_and_many_rows_agree_and_survive_json(
    columns: list[list[object]], other: list[object], n_bins: int
) -> None:
    table = {"varies": [0, 1] * 3} | {f"c{place}": column for place, column in enumerate(columns)}
    encoder = ContextEncoder(n_bins=n_bins).fit(table)
    contexts = encoder.transform(table)
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    np.testing.assert_array_equal(contexts, [encoder.encode(row) for row in rows])
    np.testing.assert_array_equal(contexts, encoder.transform(rows))
    again = ContextEncoder.from_json(encoder.to_json())
    assert again.columns_ == encoder.columns_
    assert again.variable_names == encoder.variable_names
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


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(0, 9), st.floats(0, 9)), min_size=2, max_size=40), st.integers(2, 7))
def test_no_variable_is_constant_and_none_repeats_another(column: list[object], n_bins: int) -> None:
    table = {"varies": [0] + [1] * (len(column) - 1), "x": column}
    contexts = ContextEncoder(n_bins=n_bins).fit_transform(table)[:, 1:]
    patterns = [tuple(variable ^ variable[0]) for variable in contexts.T]  # a complement has the same pattern
    assert all(any(pattern) for pattern in patterns)
    assert len(set(patterns)) == len(patterns)
    assert contexts.shape[1] <= n_bins + 1


def test_a_schema_needs_no_rows() -> None:
    schema = {
        "age": Numeric(edges=[30, 50], missing=True),
        "city": Categorical(values=["Paris", "Lannion", "Brest"]),
        "vip": Categorical(values=["gold"]),
        "member": Categorical(values=[False, True]),
    }
    encoder = ContextEncoder.from_schema(schema)
    assert encoder.variable_names == [
        "age < 30", "age in [30, 50)", "age >= 50", "age is missing",
        "city = Paris", "city = Lannion", "city = Brest", "vip = gold", "member",
    ]  # fmt: skip
    assert encoder.encode({"age": 30, "city": "Brest", "vip": "gold", "member": True}).tolist() == [
        0, 1, 0, 0, 0, 0, 1, 1, 1,
    ]  # fmt: skip


def test_the_encoded_row_is_a_context_of_its_own() -> None:
    encoder = ContextEncoder().fit(ROWS)
    first = encoder.encode(ROWS[0])
    first[:] = 1
    assert encoder.encode(ROWS[0]).tolist() != first.tolist()


DOCUMENT = ContextEncoder().fit(ROWS).to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), r"'\$\.format'"),
        (lambda d: d.update(version=2), r"'\$\.version' .* must be 1"),
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
        (lambda d: d["columns"][0].update(edges=[2, 1]), r"increasing finite numbers.* At \$\.columns\[0\]"),
        (lambda d: d["columns"][0].update(edges=["1"]), r"'edges' of Numeric"),
        (lambda d: d["columns"][0].update(edges="12"), r"a list 'edges'"),
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
    [{"n_bins": 1}, {"n_bins": 2.5}, {"columns": 3}, {"columns": {"age": "odd"}}, {"columns": {"nowhere": "numeric"}}],
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
    assert copy.get_params() == encoder.get_params() == {"n_bins": 3, "columns": {"age": "numeric"}}
    assert not hasattr(copy, "columns_")
    assert copy.set_params(n_bins=4) is copy
    assert copy.n_bins == 4
    with pytest.raises(InvalidArgumentError, match="'n_bins' or 'columns'"):
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
