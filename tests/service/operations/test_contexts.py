"""Contexts as a type: the same requests as with dicts, parsed sooner."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import GIVEN, LEARNED, make_project

from bandit_forest.bandit.features.kinds import LabelsFeature
from bandit_forest.service.errors import ServiceError
from bandit_forest.service.operations.checks import check_context
from bandit_forest.service.operations.requests import (
    ContextValues,
    DecideRequest,
    LearnRequest,
    RewardRequest,
    with_typed_context,
)
from bandit_forest.service.recovery.start import Service

VALUE = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=3)
sorted_json = msgspec.json.Encoder(order="sorted").encode


def typed(context: dict[str, Any], features: Any) -> ContextValues:
    kind = with_typed_context(DecideRequest, features)
    parsed = msgspec.json.decode(msgspec.json.encode({"context": context}), type=kind).context
    assert isinstance(parsed, ContextValues)
    return parsed


NAME = st.text(st.characters(codec="utf-8", min_codepoint=32, exclude_characters='"\\'))


@given(st.dictionaries(NAME, VALUE), st.sets(NAME, max_size=5))
def test_whatever_the_features_are_called_their_names_are_in_order(context: dict[str, Any], others: set[str]) -> None:
    parsed = typed(context, {*context, *others})
    assert msgspec.json.encode(parsed) == sorted_json(context)
    assert parsed.as_dict() == msgspec.json.decode(msgspec.json.encode(context))


@pytest.mark.parametrize("features", [GIVEN, LEARNED, GIVEN | {"tags": LabelsFeature(labels=("a", "b"))}])
def test_a_context_is_read_or_refused_as_a_dict_is(tmp_path: Path, features: dict[str, Any]) -> None:
    service = Service.start(make_project(tmp_path, context=features))
    good: dict[str, Any] = {"age": 42, "city": "Paris", "member": True}
    if "tags" in features:
        good["tags"] = ["a"]
    others: list[dict[str, Any]] = [{"age": None}, {"age": "old"}, {"member": 1}, {"city": 2**70}, {"city": "Rome"}]

    def read(context: Any) -> Any:
        try:
            return check_context(service.context.state, context)
        except ServiceError as error:
            return error.path, str(error)

    for context in (good, {}, *({"member": True}, {"age": 1}), *(good | other for other in others)):
        assert read(typed(context, features)) == read(context)
    service.stop()


@pytest.mark.parametrize("name", ['"', "\\", "\n"])
def test_a_name_that_json_escapes_makes_no_type(name: str) -> None:
    assert with_typed_context(DecideRequest, ["age", name]) is DecideRequest


def test_many_features_and_requests_without_a_context_have_no_type_of_their_own() -> None:
    assert with_typed_context(RewardRequest, ["age"]) is RewardRequest
    assert with_typed_context(LearnRequest, [f"x{number}" for number in range(129)]) is LearnRequest
    assert with_typed_context(LearnRequest, [f"x{number}" for number in range(128)]) is not LearnRequest
