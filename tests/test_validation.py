"""Every check of an argument gives back the clean value, or refuses it in the one sentence: property tests."""

from __future__ import annotations

import decimal
import fractions
import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bandit_forest.errors import InvalidArgumentError, shown
from bandit_forest.validation import (
    check_action,
    check_actions,
    check_available,
    check_context,
    check_contexts,
    check_fractions,
    check_int,
    check_number,
    check_propensity,
    check_reward,
    check_rewards,
)

OWNER = "Owner.method"
SENTENCE = re.compile(r"The '(\w+)' of Owner\.method must be [^\n]+\. Got [^\n]+ instead\.")

NOT_NUMBERS: list[Any] = [
    *(None, "0.5", b"1", "one", [], [0.5], (0.5,), {}, {1}, object(), print, 1j, np.complex128(1)),
    *(np.array([0.5]), np.array([]), np.array([[1]]), np.array("1"), np.array(None), np.array(1j)),
    *(
        np.datetime64("2020-01-01"),
        np.timedelta64(1, "s"),
        np.array(np.timedelta64(1, "s")),
        np.void(b"1"),
        np.str_("1"),
    ),
]
SIZES = st.integers(1, 130)

examples = settings(max_examples=100, deadline=None, derandomize=True)


def refused(name: str, check: Any, *arguments: Any, **options: Any) -> None:
    """Require that a check refuses in the one sentence, on one line, naming the parameter."""
    with pytest.raises(InvalidArgumentError) as raised:
        check(*arguments, **options)
    sentence = SENTENCE.fullmatch(str(raised.value))
    assert sentence is not None, str(raised.value)
    assert sentence[1] == name


# Single numbers


@examples
@given(value=st.integers(), low=st.integers(-100, 100), span=st.integers(0, 100))
def test_an_int_is_taken_within_its_range_and_refused_outside(value, low, span):
    if low <= value <= low + span:
        assert check_int(value, "size", OWNER, low=low, high=low + span) == value
    else:
        refused("size", check_int, value, "size", OWNER, low=low, high=low + span)


@examples
@given(value=hnp.arrays(hnp.integer_dtypes() | hnp.unsigned_integer_dtypes(), ()))
def test_an_int_of_numpy_is_taken_as_an_int(value):
    assume(value >= 1)
    for given_value in (value, value[()]):
        assert type(check_int(given_value, "size", OWNER)) is int
        assert check_int(given_value, "size", OWNER) == int(value)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, 1.0, math.nan, math.inf, True, False, np.True_, np.float64(2)])
def test_what_is_not_an_int_is_refused(value):
    refused("size", check_int, value, "size", OWNER)


@pytest.mark.parametrize(("check", "name"), [(check_reward, "reward"), (check_propensity, "propensity")])
@pytest.mark.parametrize("value", [*NOT_NUMBERS, -0.001, 1.001, math.nan, math.inf, -math.inf, 10**400, -1])
def test_what_is_no_reward_or_propensity_is_refused(check, name, value):
    refused(name, check, value, OWNER)


@examples
@given(value=st.floats(0, 1) | st.integers(0, 1) | st.booleans() | st.fractions(0, 1) | st.decimals(0, 1))
def test_a_reward_is_taken_as_a_float(value):
    assert type(check_reward(value, OWNER)) is float
    assert check_reward(value, OWNER) == float(value)


@examples
@given(value=st.floats())
def test_a_float_is_taken_exactly_where_it_is_in_its_range(value):
    if 0 <= value <= 1:
        assert check_reward(value, OWNER) == value
    else:
        refused("reward", check_reward, value, OWNER)
    if 0 < value <= 1:
        assert check_propensity(value, OWNER) == value
    else:
        refused("propensity", check_propensity, value, OWNER)


@pytest.mark.parametrize(
    "value", [np.float16(0.5), np.float32(0.5), np.longdouble(0.5), np.array(0.5), np.True_, np.uint8(1)], ids=repr
)
def test_a_number_of_numpy_is_taken(value):
    assert check_reward(value, OWNER) == float(value)


def test_exotic_numbers_are_taken():
    assert check_number(fractions.Fraction(1, 4), "share", OWNER, "a number", 0.0, 1.0) == 0.25
    assert check_number(decimal.Decimal("0.25"), "share", OWNER, "a number", 0.0, 1.0) == 0.25


@examples
@given(value=st.integers(), n_actions=st.integers(1, 20))
def test_an_action_is_one_of_the_actions(value, n_actions):
    if 0 <= value < n_actions:
        assert check_action(value, OWNER, n_actions) == value
    else:
        refused("action", check_action, value, OWNER, n_actions)


# Contexts


def bits(n_rows: int, n_variables: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(2, size=(n_rows, n_variables), dtype=np.uint8)


DTYPES = st.sampled_from([np.bool_, np.uint8, np.int8, np.int64, np.uint64, np.float16, np.float32, np.float64])


@examples
@given(n_variables=SIZES, seed=st.integers(0, 99), dtype=DTYPES, as_list=st.booleans())
def test_a_context_of_any_type_is_taken_as_bytes(n_variables, seed, dtype, as_list):
    row = bits(1, n_variables, seed)[0]
    given_row = row.astype(dtype).tolist() if as_list else row.astype(dtype)
    clean = check_context(given_row, OWNER, n_variables)
    assert clean.dtype == np.uint8
    assert clean.flags.c_contiguous
    assert np.array_equal(clean, row)


@examples
@given(n_variables=SIZES, n_rows=st.integers(0, 5), seed=st.integers(0, 99), dtype=DTYPES, as_list=st.booleans())
def test_contexts_of_any_type_are_taken_as_bytes(n_variables, n_rows, seed, dtype, as_list):
    assume(not (as_list and n_rows == 0))  # an empty list has no columns
    rows = bits(n_rows, n_variables, seed)
    typed = rows.astype(dtype)
    clean = check_contexts(typed.tolist() if as_list else typed, OWNER, n_variables)
    assert clean.dtype == np.uint8
    assert clean.flags.c_contiguous
    assert np.array_equal(clean, rows)


@examples
@given(
    n_variables=SIZES,
    place=st.integers(0, 129),
    value=st.sampled_from([2, -1, 255, 0.5, 1e-300, math.nan, math.inf, -math.inf]),
)
def test_a_value_that_is_neither_zero_nor_one_is_refused(n_variables, place, value):
    row = bits(1, n_variables, 0)[0].astype(float)
    row[place % n_variables] = value
    refused("context", check_context, row, OWNER, n_variables)
    refused("context", check_context, row.tolist(), OWNER, n_variables)
    refused("contexts", check_contexts, np.stack([np.zeros(n_variables), row]), OWNER, n_variables)


@examples
@given(n_variables=SIZES, shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=131))
def test_a_wrong_shape_is_refused(n_variables, shape):
    assume(math.prod(shape) < 100_000)
    array = np.zeros(shape, dtype=np.uint8)
    if shape != (n_variables,):
        refused("context", check_context, array, OWNER, n_variables)
    if len(shape) != 2 or shape[1] != n_variables:
        refused("contexts", check_contexts, array, OWNER, n_variables)


@pytest.mark.parametrize("value", [*NOT_NUMBERS, [[0], [1, 1]], ["0", "1"], [None, 1], "01", iter([0, 1])])
def test_what_is_no_array_of_numbers_is_refused(value):
    refused("context", check_context, value, OWNER, 2)
    refused("contexts", check_contexts, value, OWNER, 2)
    refused("actions", check_actions, value, OWNER, 2, 2)
    refused("rewards", check_rewards, value, OWNER, (2,))
    refused("propensities", check_fractions, value, "propensities", OWNER, (2,), open_low=True)
    refused("available_actions", check_available, value if value is not None else [None], OWNER, 2)


@pytest.mark.parametrize(
    "view", [lambda a: a[::2], lambda a: a[::-1], lambda a: np.asfortranarray(a), lambda a: a.T.copy().T]
)
def test_strided_contexts_are_taken_as_what_they_show(view):
    rows = view(bits(8, 5, 3))
    assert np.array_equal(check_contexts(rows, OWNER, 5), rows)
    assert np.array_equal(check_context(rows[0], OWNER, 5), rows[0])


def test_checking_does_not_write():
    rows = bits(8, 5, 3)
    rows.flags.writeable = False
    assert np.array_equal(check_contexts(rows, OWNER, 5), rows)


# Packed and sparse contexts


def packed(rows: np.ndarray) -> np.ndarray:
    """Pack rows bit by bit."""
    words = np.zeros((len(rows), -(-rows.shape[1] // 64)), dtype=np.uint64)
    for row, variable in zip(*np.nonzero(rows), strict=True):
        words[row, variable // 64] |= np.uint64(1 << (variable % 64))
    return words


def sparse(rows: np.ndarray, **changed: Any) -> SimpleNamespace:
    """Make the parts of a CSR matrix, some of them changed."""
    ends = np.cumsum(rows.astype(bool).sum(axis=1))
    parts = {
        "indptr": np.concatenate([[0], ends]).astype(np.int32),
        "indices": np.nonzero(rows)[1].astype(np.int32),
        "data": np.ones(int(rows.sum())),
        "shape": rows.shape,
    }
    return SimpleNamespace(**(parts | changed))


@examples
@given(n_variables=SIZES, n_rows=st.integers(0, 4), seed=st.integers(0, 99))
def test_packed_and_sparse_contexts_are_unpacked(n_variables, n_rows, seed):
    rows = bits(n_rows, n_variables, seed)
    assert np.array_equal(check_contexts(packed(rows), OWNER, n_variables), rows)
    assert np.array_equal(check_contexts(sparse(rows), OWNER, n_variables), rows)


@examples
@given(n_variables=SIZES, beyond=st.integers(0, 63))
def test_a_bit_beyond_the_last_variable_is_refused(n_variables, beyond):
    words = packed(bits(2, n_variables, 0))
    place = n_variables + beyond
    assume(place < 64 * words.shape[1])
    words[1, -1] |= np.uint64(1 << (place % 64))
    refused("contexts", check_contexts, words, OWNER, n_variables)


ROWS = bits(4, 6, 1)
GOOD = sparse(ROWS)


@pytest.mark.parametrize(
    "changed",
    [
        {"shape": (4, 7)},
        {"shape": (5, 6)},
        {"shape": (4,)},
        {"shape": None},
        {"shape": "46"},
        {"indptr": GOOD.indptr[::-1]},
        {"indptr": GOOD.indptr + 1},
        {"indptr": GOOD.indptr[:-1]},
        {"indptr": GOOD.indptr.astype(float)},
        {"indptr": np.array([], dtype=int), "shape": (-1, 6)},
        {"indptr": GOOD.indptr[None]},
        {"indices": GOOD.indices + 1},
        {"indices": GOOD.indices - 1},
        {"indices": GOOD.indices + 0.5},
        {"indices": GOOD.indices[:-1]},
        {"indices": np.zeros_like(GOOD.indices)},
        {"indices": "text"},
        {"data": GOOD.data * 2},
        {"data": GOOD.data * math.nan},
        {"data": GOOD.data[:-1]},
        {"data": [None] * len(GOOD.data)},
        {"data": GOOD.data[:, None, None]},
        {"format": "csc"},
    ],
    ids="+".join,
)
def test_sparse_contexts_that_are_not_well_formed_are_refused(changed):
    refused("contexts", check_contexts, sparse(ROWS, **changed), OWNER, 6)


def test_zeros_that_are_stored_are_zeros():
    stored = sparse(np.ones((2, 3)), data=np.array([1, 0, 1, 0, 0, 1]))
    assert check_contexts(stored, OWNER, 3).tolist() == [[1, 0, 1], [0, 0, 1]]


# Arrays of a batch


@examples
@given(actions=hnp.arrays(hnp.integer_dtypes() | hnp.unsigned_integer_dtypes(), st.integers(0, 10)))
def test_actions_are_taken_where_all_are_actions(actions):
    n_events = len(actions)
    if ((actions >= 0) & (actions < 5)).all():
        clean = check_actions(actions, OWNER, 5, n_events)
        assert clean.dtype == np.int64
        assert np.array_equal(clean, actions)
    else:
        refused("actions", check_actions, actions, OWNER, 5, n_events)
    refused("actions", check_actions, actions, OWNER, 5, n_events + 1)
    refused("actions", check_actions, actions[:, None], OWNER, 5, n_events)


@pytest.mark.parametrize("actions", [[0.0, 1.0], [True, False], [0, 10**30]])
def test_actions_of_another_type_are_refused(actions):
    refused("actions", check_actions, actions, OWNER, 5, 2)


@examples
@given(
    values=hnp.arrays(hnp.floating_dtypes(), hnp.array_shapes(min_dims=1, max_dims=2, max_side=5)),
    open_low=st.booleans(),
)
def test_fractions_are_taken_where_all_are_in_their_range(values, open_low):
    low_enough = (values > 0) if open_low else (values >= 0)
    if (low_enough & (values <= 1)).all():
        clean = check_fractions(values, "shares", OWNER, values.shape, open_low=open_low)
        assert clean.dtype == np.float64
        assert np.array_equal(clean, values)
    else:
        refused("shares", check_fractions, values, "shares", OWNER, values.shape, open_low=open_low)
    refused("shares", check_fractions, values[None], "shares", OWNER, values.shape)


@pytest.mark.parametrize("rewards", [[False, True], [0, 1], [0.0, 1.0], np.array([0, 1], dtype=np.uint8)])
def test_rewards_of_any_type_are_taken_as_floats(rewards):
    assert check_rewards(rewards, OWNER, (2,)).tolist() == [0.0, 1.0]


@examples
@given(actions=st.lists(st.integers(-2, 6), max_size=6), n_actions=st.integers(1, 5))
def test_available_actions_are_a_mask(actions, n_actions):
    if actions and all(0 <= action < n_actions for action in actions):
        mask = check_available(actions, OWNER, n_actions)
        assert np.flatnonzero(mask).tolist() == sorted(set(actions))
        assert mask.shape == (n_actions,)
        assert np.array_equal(mask, check_available(np.array(actions, dtype=np.uint8), OWNER, n_actions))
    else:
        refused("available_actions", check_available, actions, OWNER, n_actions)


@pytest.mark.parametrize("available", [[0.0], [True, False], 0, [[0]], {0}, [0, 10**30]], ids=repr)
def test_available_actions_of_another_type_are_refused(available):
    refused("available_actions", check_available, available, OWNER, 2)


def test_all_actions_are_available_by_default():
    assert check_available(None, OWNER, 3) is None


def test_the_sentence_shows_a_large_value_in_short():
    with pytest.raises(InvalidArgumentError) as raised:
        check_context(list(range(10_000)), OWNER, 3)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(-2), "-2.0"),
        ([np.int64(3), np.bool_(True)], "[3, True]"),
        ({np.str_("a"): (np.float32(1.5),)}, "{'a': (1.5,)}"),
        (np.array([np.float64(1), None]), "array([1.0, None], dtype=object)"),
    ],
)
def test_numbers_of_numpy_are_shown_as_numbers(value, text):
    assert shown(value) == text
