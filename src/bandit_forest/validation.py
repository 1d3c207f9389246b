"""Checks of arguments, shared by every policy: each gives back the clean value or refuses in one sentence."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bandit_forest.errors import refuse

__all__ = [
    "check_action",
    "check_actions",
    "check_available",
    "check_available_rows",
    "check_codes",
    "check_context",
    "check_contexts",
    "check_fractions",
    "check_int",
    "check_number",
    "check_numbers",
    "check_propensity",
    "check_range",
    "check_reward",
    "check_rewards",
    "key_number",
    "key_numbers",
]

Bits = NDArray[np.uint8]

_LARGEST_RANGE = 2**20


def check_int(value: object, name: str, owner: str, *, low: int = 1, high: int | None = None) -> int:
    """Return an int in [low, high].

    Examples
    --------
    >>> check_int(3, "n_trees", "BanditForest")
    3
    """
    limit = f"an int of at least {low}" if high is None else f"an int in [{low}, {high}]"
    if isinstance(value, (bool, np.bool_)):
        refuse(name, owner, limit, value)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        refuse(name, owner, limit, value)
    if number < low or (high is not None and number > high):
        refuse(name, owner, limit, value)
    return number


def check_range(value: object, name: str, owner: str) -> tuple[int, int]:
    """Return a range of positive ints from an int or a pair (low, high).

    Examples
    --------
    >>> check_range(8, "max_depth", "BanditForest"), check_range((10, 18), "max_depth", "BanditForest")
    ((8, 8), (10, 18))
    """
    if isinstance(value, tuple) and len(value) == 2:
        low = check_int(value[0], name, owner, high=_LARGEST_RANGE)
        return low, check_int(value[1], name, owner, low=low, high=_LARGEST_RANGE)
    number = check_int(value, name, owner, high=_LARGEST_RANGE)
    return number, number


def check_number(
    value: object, name: str, owner: str, rule: str, low: float, high: float, *, open_low: bool = False
) -> float:
    """Return a float in [low, high], or in (low, high] when `open_low`."""
    if isinstance(value, float):
        number = value
    elif isinstance(value, (str, bytes)) or not isinstance(value, SupportsFloat) or not _is_scalar(value):
        refuse(name, owner, rule, value)
    else:
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            refuse(name, owner, rule, value)
    if not (low <= number <= high) or (open_low and number == low):  # NaN fails the first test
        refuse(name, owner, rule, value)
    return number


def check_numbers(
    values: Any, name: str, owner: str, rule: str, low: float, high: float, *, open_low: bool = False
) -> NDArray[np.float64]:
    """Return a list or an array of one dimension as floats in [low, high]; the first that is wrong is told by its row.

    Examples
    --------
    >>> check_numbers([1, 0.5], "rewards", "Bandit.learn_many", "numbers in [0, 1]", 0.0, 1.0)
    array([1. , 0.5])
    """
    is_array = isinstance(values, np.ndarray)
    if values.dtype.kind in "biuf" if is_array else set(map(type, values)) <= {bool, int, float}:
        with suppress(OverflowError):  # an int beyond all floats is refused below
            array = np.array(values, dtype=np.float64)
            if ((array > low if open_low else array >= low) & (array <= high)).all():  # NaN fails it
                return array
    rule = f"{rule}; row {{}} is wrong"
    checked = [
        check_number(value, name, owner, rule.format(row), low, high, open_low=open_low)
        for row, value in enumerate(values)
    ]
    return np.array(checked, dtype=np.float64)


def check_reward(value: object, owner: str) -> float:
    """Return a reward in [0, 1]."""
    return check_number(value, "reward", owner, "a number in [0, 1]", 0.0, 1.0)


def check_propensity(value: object, owner: str) -> float:
    """Return a propensity in (0, 1]."""
    return check_number(value, "propensity", owner, "a number in (0, 1]", 0.0, 1.0, open_low=True)


def check_action(value: object, owner: str, n_actions: int) -> int:
    """Return an action in [0, n_actions)."""
    return check_int(value, "action", owner, low=0, high=n_actions - 1)


def check_context(context: ArrayLike, owner: str, n_variables: int, largest: NDArray[np.uint8] | None = None) -> Bits:
    """Return one context as a contiguous uint8 array: of zeros and ones, or of codes up to the `largest` ones.

    Examples
    --------
    >>> check_context([True, False], "BanditForest.decide", 2)
    array([1, 0], dtype=uint8)
    """
    rule = f"an array of {n_variables} {_kind(largest)}"
    array = _as_array(context, "context", owner, rule)
    if array.shape != (n_variables,):
        refuse("context", owner, rule, context)
    return _as_codes(array, context, "context", owner, rule, largest)


def check_contexts(contexts: Any, owner: str, n_variables: int, largest: NDArray[np.uint8] | None = None) -> Bits:
    """Return a batch of contexts as a contiguous uint8 matrix: of zeros and ones, or of codes up to the `largest` ones.

    Dense rows (bool or numbers) are taken, and where all variables are binary, rows packed in 64-bit words (uint64, bit
    i of word w is variable 64 w + i) and sparse rows (any object with the `indptr`, `indices`, `data` and `shape` of a
    SciPy CSR matrix).
    """
    words = -(-n_variables // 64)
    packed = f", or of {words} packed 64-bit words" if largest is None else ""
    rule = f"a matrix with rows of {n_variables} {_kind(largest)}{packed}"
    if largest is None and all(hasattr(contexts, part) for part in ("indptr", "indices", "data", "shape")):
        return _dense_rows(contexts, owner, n_variables, rule)
    array = _as_array(contexts, "contexts", owner, rule)
    if largest is None and array.ndim == 2 and array.dtype == np.uint64 and array.shape[1] == words:
        return unpack(array, n_variables, owner, rule)
    if array.ndim != 2 or array.shape[1] != n_variables:
        refuse("contexts", owner, rule, contexts)
    return _as_codes(array, contexts, "contexts", owner, rule, largest)


def check_codes(
    codes: Any, name: str, owner: str, n_variables: int, largest: NDArray[np.uint8] | None, *, ndim: int
) -> Bits:
    """Return rows of codes as a contiguous uint8 matrix; with `ndim` 1, the only row is given by itself.

    Examples
    --------
    >>> check_codes([1, 0], "context", "PairForest.decide", 2, None, ndim=1)
    array([[1, 0]], dtype=uint8)
    """
    rule = f"{'an array' if ndim == 1 else 'a matrix with rows'} of {n_variables} {_kind(largest)}"
    array = _as_array(codes, name, owner, rule)
    if array.ndim != ndim or array.shape[-1] != n_variables:
        refuse(name, owner, rule, codes)
    return _as_codes(array, codes, name, owner, rule, largest).reshape(-1, n_variables)


def check_actions(actions: ArrayLike, owner: str, n_actions: int, n_events: int) -> NDArray[np.int64]:
    """Return one action for each event of a batch."""
    rule = f"{n_events} ints in [0, {n_actions - 1}]"
    array = _as_array(actions, "actions", owner, rule)
    if array.shape != (n_events,) or (array.dtype.kind not in "iu" and array.size):
        refuse("actions", owner, rule, actions)
    if array.size and (array.min() < 0 or array.max() >= n_actions):
        refuse("actions", owner, rule, actions)
    return np.array(array, dtype=np.int64)  # a copy: nobody may change what has been checked


def check_fractions(
    values: ArrayLike, name: str, owner: str, shape: tuple[int, ...], *, open_low: bool = False
) -> NDArray[np.float64]:
    """Return an array of the given shape whose numbers are all in [0, 1], or in (0, 1] when `open_low`."""
    rule = f"{' x '.join(map(str, shape))} numbers in {'(' if open_low else '['}0, 1]"
    if isinstance(values, (list, tuple)) and shape == (len(values),):
        return check_numbers(values, name, owner, rule, 0.0, 1.0, open_low=open_low)
    array = _as_array(values, name, owner, rule)
    if array.shape != shape:
        refuse(name, owner, rule, values)
    array = np.ascontiguousarray(array, dtype=np.float64)
    if array.size:
        low = array.min()
        if not (low >= 0.0 and array.max() <= 1.0) or (open_low and low == 0.0):  # NaN fails the first test
            if array.ndim != 1:
                refuse(name, owner, rule, values)
            row = int(np.flatnonzero(~((array >= 0.0) & (array <= 1.0)) | (open_low & (array == 0.0)))[0])
            refuse(name, owner, f"{rule}; row {row} is wrong", float(array[row]))
    return array


def check_rewards(rewards: ArrayLike, owner: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return rewards in [0, 1]: one per event, or one per event and action."""
    return check_fractions(rewards, "rewards", owner, shape)


def check_available(available: ArrayLike | None, owner: str, n_actions: int) -> NDArray[np.bool_] | None:
    """Return the available actions as a mask over all actions, or None when all are available.

    Examples
    --------
    >>> check_available([2, 0], "BanditForest.decide", 3)
    array([ True, False,  True])
    """
    if available is None:
        return None
    rule = f"a non-empty list of ints in [0, {n_actions - 1}]"
    array = _as_array(available, "available_actions", owner, rule)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        refuse("available_actions", owner, rule, available)
    if array.min() < 0 or array.max() >= n_actions:
        refuse("available_actions", owner, rule, available)
    mask = np.zeros(n_actions, dtype=np.bool_)
    mask[array] = True
    return mask


def check_available_rows(
    available: ArrayLike | None, owner: str, n_actions: int, n_events: int
) -> NDArray[np.bool_] | None:
    """Return the actions that are available to a batch as a mask: a row for all events, or one for each.

    Examples
    --------
    >>> check_available_rows([[True, False], [True, True]], "BanditForest.decide_many", 2, 2)
    array([[ True, False],
           [ True,  True]])
    """
    array = None if available is None else np.asarray(available, dtype=object if _is_ragged(available) else None)
    if array is None or array.ndim != 2:
        return check_available(available, owner, n_actions)
    rule = f"ints in [0, {n_actions - 1}], or a mask of {n_events} x {n_actions} bools with a true one in each row"
    if array.dtype != np.bool_ or array.shape != (n_events, n_actions) or not array.any(axis=1).all():
        refuse("available_actions", owner, rule, available)
    return np.ascontiguousarray(array)


def key_number(key: object, owner: str, parameter: str = "key") -> int:
    """Return the 64-bit number of a key: an int, a text or bytes.

    Examples
    --------
    >>> key_number("event 7", "BanditForest.decide") == key_number("event 7", "BanditForest.decide")
    True
    """
    if isinstance(key, str):
        content = b"s" + key.encode("utf-8", "surrogatepass")
    elif isinstance(key, bytes):
        content = b"b" + key
    elif isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        try:
            content = b"i%d" % int(key)
        except ValueError:
            refuse(parameter, owner, "an int of at most 4300 digits, a text or bytes", key)
    else:
        refuse(parameter, owner, "an int, a text or bytes", key)
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")


def key_numbers(keys: object, owner: str, n_events: int) -> NDArray[np.uint64] | None:
    """Return the 64-bit numbers of the keys of a batch."""
    if keys is None:
        return None
    listed = isinstance(keys, (Sequence, np.ndarray)) and not isinstance(keys, (str, bytes))
    if not listed or len(keys) != n_events:  # type: ignore[arg-type]
        refuse("keys", owner, f"{n_events} ints, texts or bytes", keys)
    numbers = (key_number(key, owner) for key in keys)  # type: ignore[attr-defined]
    return np.fromiter(numbers, dtype=np.uint64, count=n_events)


def _is_ragged(available: object) -> bool:
    lengths = (
        {len(row) for row in available if isinstance(row, (list, tuple))} if isinstance(available, list) else set()
    )
    return len(lengths) > 1


def unpack(words: NDArray[np.uint64], n_variables: int, owner: str, rule: str) -> Bits:
    """Unpack rows of 64-bit words; bits beyond the last variable must be zero."""
    octets = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    bits = np.unpackbits(octets, axis=1, bitorder="little")
    if bits[:, n_variables:].any():
        refuse("contexts", owner, rule, words)
    return np.ascontiguousarray(bits[:, :n_variables])


def _is_scalar(value: object) -> bool:
    """Return whether what NumPy would make a float of is one real number: not an array, a complex number or a time."""
    return not isinstance(value, (np.ndarray, np.generic)) or (value.ndim == 0 and value.dtype.kind in "biuf")


def _as_array(value: ArrayLike, name: str, owner: str, rule: str) -> NDArray[Any]:
    """Make a plain array of numbers or bools, or refuse (ragged lists, text, objects, masked entries)."""
    if isinstance(value, np.ma.MaskedArray):
        refuse(name, owner, rule, value)
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        refuse(name, owner, rule, value)
    if array.dtype.kind not in "biuf":
        refuse(name, owner, rule, value)
    return array


def _kind(largest: NDArray[np.uint8] | None) -> str:
    return "zeros and ones" if largest is None else "codes, none above its variable's number of thresholds"


def _as_codes(
    array: NDArray[Any], shown: object, name: str, owner: str, rule: str, largest: NDArray[np.uint8] | None = None
) -> Bits:
    """Return codes as contiguous uint8; refuse what is above the largest codes, which are ones when None."""
    if array.dtype == np.bool_:
        bits: Bits = (np.ascontiguousarray(array).view(np.uint8) != 0).view(np.uint8)  # true may be any byte but 0
        return bits
    if array.size == 0:
        return np.ascontiguousarray(array, dtype=np.uint8)
    if largest is None:
        fits = array.max() <= 1 if array.dtype.kind == "u" else ((array == 0) | (array == 1)).all()
    elif array.dtype == np.uint8:
        fits = (array <= largest).all()
    else:
        fits = ((array >= 0) & (array <= largest) & (array == np.floor(array))).all()
    if not fits:
        refuse(name, owner, rule, shown)
    return np.ascontiguousarray(array, dtype=np.uint8)


def _dense_rows(rows: Any, owner: str, n_variables: int, rule: str) -> Bits:
    """Return sparse rows as a dense matrix."""
    starts, columns, values, shape = (
        _as_array(part, "contexts", owner, rule) for part in (rows.indptr, rows.indices, rows.data, rows.shape)
    )
    # SciPy's other formats have the same parts with other meanings.
    is_csr = getattr(rows, "format", "csr") == "csr" and shape.tolist() == [starts.size - 1, n_variables]
    if not (is_csr and _are_rows(starts, columns, values, n_variables)):
        refuse("contexts", owner, rule, rows)
    bits = np.zeros((starts.size - 1, n_variables), dtype=np.uint8)
    present = np.flatnonzero(values)
    row_of = np.repeat(np.arange(len(bits)), (starts[1:] - starts[:-1]).astype(np.int64))
    bits[row_of[present], columns[present].astype(np.int64)] = 1
    if np.count_nonzero(bits) != present.size:  # a variable that is given twice counts twice: neither zero nor one
        refuse("contexts", owner, rule, rows)
    return bits


def _are_rows(starts: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], n_variables: int) -> bool:
    """Return whether these are the parts of well-formed sparse rows of zeros and ones."""
    if any(part.ndim != 1 for part in (starts, columns, values)):
        return False
    if any(part.size and part.dtype.kind not in "iu" for part in (starts, columns)):
        return False
    return bool(
        starts.size > 0
        and starts[0] == 0
        and (starts[1:] >= starts[:-1]).all()
        and starts[-1] == columns.size == values.size
        and (columns.size == 0 or (columns.min() >= 0 and columns.max() < n_variables))
        and ((values == 0) | (values == 1)).all()
    )
