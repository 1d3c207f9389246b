"""Contexts from JSON: the bits of the encoder, and refusals that name the place."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import GIVEN, LEARNED

from bandit_forest.encoding import Binned, Categorical, ContextEncoder, Numeric
from bandit_forest.service.contexts import ContextReader, fit_columns
from bandit_forest.service.fields import BooleanField, CategoricalField, NumericField
from bandit_forest.service.refusals import InvalidRequestError

pytestmark = pytest.mark.core

FIELDS = {
    "n": NumericField(edges=(-1.5, 0, 10)),
    "m": NumericField(edges=(0.5,), missing=True),
    "c": CategoricalField(values=("x", "y", 3), open=True, missing=True),
    "one": NumericField(thresholds=(0,), missing=True),
    "d": CategoricalField(values=(1, 2)),
    "b": BooleanField(),
    "o": BooleanField(missing=True),
}
NUMBER = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
CONTEXTS = st.fixed_dictionaries(
    {"n": NUMBER, "d": st.sampled_from([1, 2]), "b": st.booleans()},
    optional={
        "m": NUMBER | st.none(),
        "one": NUMBER | st.none(),
        "c": st.none() | st.text(max_size=3) | st.sampled_from(["x", "y", 3]) | st.integers(-5, 5),
        "o": st.booleans() | st.none(),
    },
)
READER = ContextReader(FIELDS, fit_columns(FIELDS, []))
ORDERED = FIELDS | {"n": NumericField(thresholds=(-1.5, 0, 10)), "m": NumericField(thresholds=(0.5, 3), missing=True)}
ORDERED_READER = ContextReader(ORDERED, fit_columns(ORDERED, []))


@pytest.mark.parametrize("reader", [READER, ORDERED_READER])
@given(context=CONTEXTS)
def test_the_codes_are_those_of_the_encoder(reader: ContextReader, context: dict[str, Any]) -> None:
    assert reader.encoder is not None
    assert reader.encode(context, "$.context") == reader.encoder.encode(context).tobytes()
    assert reader.encode_plainly(context, "$.context") == reader.encode(context, "$.context")


def test_thresholds_are_declared_or_learned() -> None:
    fields = {"age": NumericField(missing=True), "height": NumericField(thresholds=(1.5, 1.7))}
    columns = fit_columns(fields, [{"age": age, "height": 1.6} for age in (30, None, 20, 40)])
    assert columns["age"] == Numeric(thresholds=(30, 40), missing=True)
    assert columns["height"] == Numeric(thresholds=(1.5, 1.7))
    reader = ContextReader(fields, columns)
    assert reader.encode({"age": 40, "height": 1.6}, "$") == bytes([2, 0, 1])
    assert reader.encode({"height": 2}, "$") == bytes([0, 1, 2])


@given(CONTEXTS, st.randoms())
def test_the_order_of_the_fields_does_not_matter(context: dict[str, Any], random: Random) -> None:
    names = random.sample(list(context), len(context))
    assert READER.encode({name: context[name] for name in names}, "$") == READER.encode(context, "$")


VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["x", "y", "z"]) | st.lists(st.none())
)


@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]), VALUES))
def test_the_core_takes_nothing_that_is_refused(context: dict[str, Any]) -> None:
    def read(encode: Callable[[Any, str], bytes]) -> bytes | str:
        try:
            return encode(context, "$.context")
        except InvalidRequestError as refusal:
            return str(refusal)

    assert read(READER.encode) == read(READER.encode_plainly)


GOOD = {"age": 42, "city": "Paris", "member": True}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"age": "42"}, "$.context.age"),
        ({"age": True}, "$.context.age"),
        ({"age": float("nan")}, "$.context.age"),
        ({"age": float("inf")}, "$.context.age"),
        ({"age": 10**400}, "$.context.age"),
        ({"age": [42]}, "$.context.age"),
        ({"city": None}, "$.context.city"),
        ({"city": 1.5}, "$.context.city"),
        ({"city": {}}, "$.context.city"),
        ({"city": True}, "$.context.city"),
        ({"member": 1}, "$.context.member"),
        ({"member": None}, "$.context.member"),
        ({"membr": True}, "$.context.membr"),
        ({"a b": True}, "$.context['a b']"),
    ],
)
def test_a_wrong_context_is_refused_with_its_place(change: dict[str, Any], path: str) -> None:
    reader = ContextReader(GIVEN, fit_columns(GIVEN, []))
    assert reader.encode(GOOD, "$.context")
    with pytest.raises(InvalidRequestError) as refusal:
        reader.encode(GOOD | change, "$.context")
    assert refusal.value.path == path
    assert path in str(refusal.value)


@pytest.mark.parametrize("context", [None, [], "text", 3, True])
def test_what_is_no_object_is_refused(context: Any) -> None:
    with pytest.raises(InvalidRequestError) as refusal:
        READER.encode(context, "$.events[2].context")
    assert refusal.value.path == "$.events[2].context"


def test_closed_values_and_absent_fields() -> None:
    fields = {"city": CategoricalField(values=("Paris",)), "age": NumericField(edges=(1,), missing=True)}
    reader = ContextReader(fields, fit_columns(fields, []))
    assert reader.encode({"city": "Paris"}, "$") == reader.encode({"city": "Paris", "age": None}, "$")
    with pytest.raises(InvalidRequestError, match="one of 'Paris'"):
        reader.encode({"city": "Nice"}, "$")
    with pytest.raises(InvalidRequestError, match="allows no missing value"):
        reader.encode({"age": 3}, "$")


def test_while_bins_are_learned_contexts_are_checked_just_so() -> None:
    reader = ContextReader(LEARNED, None)
    assert reader.encoder is None
    reader.encode({"age": None, "city": "anything", "member": False}, "$")
    with pytest.raises(InvalidRequestError):
        reader.encode({"age": "x", "city": "anything", "member": False}, "$")


def test_bins_and_values_are_learned() -> None:
    contexts = [{"age": age, "city": city, "member": True} for age, city in zip(range(9), "xxyyzzzwv", strict=True)]
    columns = fit_columns(LEARNED, contexts)
    assert columns["age"] == Binned(edges=(3, 6), missing=True)
    assert columns["city"] == Categorical(values=("x", "y", "z"))
    assert columns["member"] == Categorical(values=(False, True))


@pytest.mark.parametrize("value", [None, 5])
def test_a_learned_field_that_never_varied_still_has_a_variable(value: int | None) -> None:
    fields = {"age": NumericField(missing=True), "code": CategoricalField(missing=True)}
    columns = fit_columns(fields, [{"age": value, "code": value}] * 10)
    names = ContextEncoder.from_schema(columns).variable_names
    assert any(name.startswith("age >=") for name in names)
    assert any(name.startswith("code") for name in names)


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_fields_are_read_in_any_order(order: slice) -> None:
    fields = {"age": NumericField(edges=(30.0,))} | {f"flag{number}": BooleanField() for number in range(12)}
    reader = ContextReader(fields, fit_columns(fields, []))
    for seed in range(20):
        flags = {name: bool(seed >> number & 1) for number, name in enumerate(list(fields)[1:])}
        context = dict(list(({"age": 20 + seed} | flags).items())[order])
        assert reader.encode(context, "$.context") == reader.encoder.encode(context).tobytes()
    with pytest.raises(InvalidRequestError, match=r"\$\.context\.flag3"):
        reader.encode(context | {"flag3": 1}, "$.context")


def test_only_true_and_false_are_flags() -> None:
    fields = {f"flag{number}": BooleanField() for number in range(300)}
    reader = ContextReader(fields, fit_columns(fields, []))
    context = {name: number % 3 == 0 for number, name in enumerate(fields)}
    assert reader.encode(context, "$.context") == bytes(context.values())
    for odd in (0, 1, 1.0, None, "T", [True], {}):
        with pytest.raises(InvalidRequestError, match=r"\$\.context\.flag0"):
            reader.encode(context | {"flag0": odd}, "$.context")


def test_an_error_of_a_name_is_told_as_it_is() -> None:
    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("not to be compared")

    with pytest.raises(RuntimeError, match="not to be compared"):
        ContextReader({"a": BooleanField()}, None).encode({Name("a"): True}, "$")


def test_a_flag_that_json_does_not_have_is_refused_by_its_name() -> None:
    fields = {"member": BooleanField()}
    with pytest.raises(InvalidRequestError, match=r"'\$\.context\.member' must be"):
        ContextReader(fields, fit_columns(fields, [])).encode({"member": date(2026, 1, 1)}, "$.context")
