"""Contexts: the variables of the encoder, and refusals that name the feature."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bandit_forest import Bandit, InvalidArgumentError
from bandit_forest.bandit import BooleanFeature, CategoricalFeature, Feature, FeatureError, NumericFeature
from bandit_forest.bandit.features.fitting import fit_columns
from bandit_forest.bandit.features.schema import Schema
from bandit_forest.encoding import Binned, Categorical, ContextEncoder, Numeric

pytestmark = pytest.mark.core

FIELDS = {
    "n": NumericFeature(edges=(-1.5, 0, 10)),
    "m": NumericFeature(edges=(0.5,), missing=True),
    "c": CategoricalFeature(values=("x", "y", 3), open=True, missing=True),
    "one": NumericFeature(thresholds=(0,), missing=True),
    "two": CategoricalFeature(values=("x", "y"), open=True),
    "d": CategoricalFeature(values=(1, 2)),
    "b": BooleanFeature(),
    "o": BooleanFeature(missing=True),
}
NUMBER = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
CONTEXTS = st.fixed_dictionaries(
    {"n": NUMBER, "two": st.text(max_size=1) | st.sampled_from("xy"), "d": st.sampled_from([1, 2]), "b": st.booleans()},
    optional={
        "m": NUMBER | st.none(),
        "one": NUMBER | st.none(),
        "c": st.none() | st.text(max_size=3) | st.sampled_from(["x", "y", 3]) | st.integers(-5, 5),
        "o": st.booleans() | st.none(),
    },
)
VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["x", "y", "z"]) | st.lists(st.none())
)
READER = Schema.fit(FIELDS, [])
ORDERED = FIELDS | {
    "n": NumericFeature(thresholds=(-1.5, 0, 10)),
    "m": NumericFeature(thresholds=(0.5, 3), missing=True),
}
ORDERED_READER = Schema.fit(ORDERED, [])
READERS = pytest.mark.parametrize("reader", [READER, ORDERED_READER], ids=["bins", "ordered"])


@READERS
@given(context=CONTEXTS)
def test_the_codes_are_those_of_the_encoder(reader: Schema, context: dict[str, Any]) -> None:
    assert reader.encoder is not None
    assert reader.encode(context) == reader.encoder.encode(context).tobytes()
    assert reader.encode_plainly(context) == reader.encode(context)


@READERS
@given(context=CONTEXTS)
def test_plain_contexts_take_the_compiled_reader(reader: Schema, context: dict[str, Any]) -> None:
    assert reader._reader is not None
    assert reader._reader.read(context) == reader.encode_plainly(context)


@READERS
@given(context=st.dictionaries(st.sampled_from([*FIELDS]), VALUES) | CONTEXTS)
def test_a_row_of_values_gives_what_a_dict_gives(reader: Schema, context: dict[str, Any]) -> None:
    absent = object()
    row = tuple(context.get(name, absent) for name in sorted(FIELDS))
    assert reader._reader is not None
    assert reader.encode_row(row, absent) == reader._reader.read(context)


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="a value for each field"):
        READER.encode_row((1,), None)


def test_thresholds_are_declared_or_learned() -> None:
    features = {"age": NumericFeature(missing=True), "height": NumericFeature(thresholds=(1.5, 1.7))}
    schema = Schema.fit(features, [{"age": age, "height": 1.6} for age in (30, None, 20, 40)])
    assert schema.encoder is not None
    assert schema.encoder.columns_["age"] == Numeric(thresholds=(30, 40), missing=True)
    assert schema.encoder.columns_["height"] == Numeric(thresholds=(1.5, 1.7))
    assert schema.encode({"age": 40, "height": 1.6}) == bytes([2, 0, 1])
    assert schema.encode({"height": 2}) == bytes([0, 1, 2])


@pytest.mark.parametrize("values", [("x",), ("x", "y"), ("x", "y", "z")])
def test_an_unknown_value_of_an_open_feature_equals_no_known_one(values: tuple[str, ...]) -> None:
    schema = Schema.fit({"c": CategoricalFeature(values=values, open=True)}, [])
    codes = [schema.encode({"c": value}) for value in (*values, "unseen")]
    assert len(set(codes)) == len(codes)
    assert schema.encode({"c": "unseen too"}) == codes[-1]


@given(CONTEXTS, st.randoms())
def test_the_order_of_the_fields_does_not_matter(context: dict[str, Any], random: Random) -> None:
    names = random.sample(list(context), len(context))
    assert READER.encode({name: context[name] for name in names}) == READER.encode(context)


@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]), VALUES))
def test_the_core_takes_nothing_that_is_refused(context: dict[str, Any]) -> None:
    def read(encode: Callable[[Any], bytes]) -> bytes | str:
        try:
            return encode(context)
        except FeatureError as refusal:
            return str(refusal)

    assert read(READER.encode) == read(READER.encode_plainly)


GIVEN: dict[str, Feature] = {
    "age": NumericFeature(edges=(30, 50), missing=True),
    "city": CategoricalFeature(values=("Lannion", "Paris"), open=True),
    "member": BooleanFeature(),
}
LEARNED: dict[str, Feature] = {
    "age": NumericFeature(n_bins=3, missing=True),
    "city": CategoricalFeature(max_values=3),
    "member": BooleanFeature(),
}
GOOD = {"age": 42, "city": "Paris", "member": True}


@pytest.mark.parametrize(
    ("change", "feature"),
    [
        ({"age": "42"}, "age"),
        ({"age": True}, "age"),
        ({"age": float("inf")}, "age"),
        ({"age": 10**400}, "age"),
        ({"age": [42]}, "age"),
        ({"city": None}, "city"),
        ({"city": float("nan")}, "city"),
        ({"city": 1.5}, "city"),
        ({"city": {}}, "city"),
        ({"city": True}, "city"),
        ({"member": 1}, "member"),
        ({"member": None}, "member"),
        ({"membr": True}, "membr"),
        ({"a b": True}, "a b"),
    ],
)
def test_a_wrong_context_is_refused_with_its_feature(change: dict[str, Any], feature: str) -> None:
    reader = Schema.fit(GIVEN, [])
    assert reader.encode(GOOD)
    with pytest.raises(FeatureError) as refusal:
        reader.encode(GOOD | change)
    assert refusal.value.feature == feature
    assert feature in str(refusal.value)


@pytest.mark.parametrize("context", [None, [], "text", 3, True])
def test_what_is_not_a_mapping_is_refused(context: Any) -> None:
    with pytest.raises(FeatureError, match="a mapping from the names"):
        READER.encode(context)


def test_closed_values_and_absent_fields() -> None:
    fields = {"city": CategoricalFeature(values=("Paris",)), "age": NumericFeature(edges=(1,), missing=True)}
    reader = Schema.fit(fields, [])
    assert reader.encode({"city": "Paris"}) == reader.encode({"city": "Paris", "age": None})
    with pytest.raises(FeatureError, match="one of 'Paris'"):
        reader.encode({"city": "Nice"})
    with pytest.raises(FeatureError, match="a missing value is not allowed"):
        reader.encode({"age": 3})


def test_while_bins_are_learned_contexts_are_checked_just_so() -> None:
    reader = Schema(LEARNED, None)
    assert reader.encoder is None
    reader.check({"age": None, "city": "anything", "member": False})
    with pytest.raises(FeatureError):
        reader.check({"age": "x", "city": "anything", "member": False})


def test_bins_and_values_are_learned() -> None:
    contexts = [{"age": age, "city": city, "member": True} for age, city in zip(range(9), "xxyyzzzwv", strict=True)]
    columns = fit_columns(LEARNED, contexts)
    assert columns["age"] == Binned(edges=(3, 6), missing=True)
    assert columns["city"] == Categorical(values=("x", "y", "z"), other=True)
    assert columns["member"] == Categorical(values=(False, True))


@pytest.mark.parametrize("value", [None, 5])
def test_a_learned_field_that_never_varied_still_has_a_variable(value: int | None) -> None:
    fields = {"age": NumericFeature(missing=True), "code": CategoricalFeature(missing=True)}
    columns = fit_columns(fields, [{"age": value, "code": value}] * 10)
    names = ContextEncoder.from_schema(columns).variable_names
    assert any(name.startswith("age >=") for name in names)
    assert any(name.startswith("code") for name in names)


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_fields_are_read_in_any_order(order: slice) -> None:
    fields = {"age": NumericFeature(edges=(30.0,))} | {f"flag{number}": BooleanFeature() for number in range(12)}
    reader = Schema.fit(fields, [])
    for seed in range(20):
        flags = {name: bool(seed >> number & 1) for number, name in enumerate(list(fields)[1:])}
        context = dict(list(({"age": 20 + seed} | flags).items())[order])
        assert reader.encode(context) == reader.encoder.encode(context).tobytes()
    with pytest.raises(FeatureError, match="flag3"):
        reader.encode(context | {"flag3": 1})


def test_only_true_and_false_are_flags() -> None:
    fields = {f"flag{number}": BooleanFeature() for number in range(300)}
    reader = Schema.fit(fields, [])
    context = {name: number % 3 == 0 for number, name in enumerate(fields)}
    assert reader.encode(context) == bytes(context.values())
    for odd in (0, 1, 1.0, None, "T", [True], {}):
        with pytest.raises(FeatureError, match="flag0"):
            reader.encode(context | {"flag0": odd})


def test_other_values_without_a_variable_are_for_old_folders_only() -> None:
    feature = CategoricalFeature(values=("FR", "DE"), open=True, other=False)
    with pytest.raises(InvalidArgumentError, match="The 'other' of the categorical feature 'country' must be left out"):
        Bandit(actions=["stay", "go"], features={"country": feature})


def test_an_error_of_a_name_is_told_as_it_is() -> None:
    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("not to be compared")

    with pytest.raises(RuntimeError, match="not to be compared"):
        Schema.fit({"a": BooleanFeature()}, []).encode({Name("a"): True})


def test_a_flag_that_json_does_not_have_is_refused_by_its_name() -> None:
    fields = {"member": BooleanFeature()}
    with pytest.raises(FeatureError, match="The 'member' of the context must be"):
        Schema.fit(fields, []).encode({"member": date(2026, 1, 1)})
