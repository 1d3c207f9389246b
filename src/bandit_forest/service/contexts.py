"""JSON contexts: checked against the project's fields, and encoded as binary variables, in one pass."""

from __future__ import annotations

import marshal
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import compress, count
from typing import Any, NamedTuple, NoReturn

import numpy as np

from bandit_forest.encoding import Categorical, Column, ContextEncoder, Numeric
from bandit_forest.encoding.fitting import fit_column
from bandit_forest.errors import shown
from bandit_forest.service.fields import BooleanField, CategoricalField, Field, NumericField
from bandit_forest.service.refusals import InvalidRequestError

__all__ = ["ContextReader", "different_names", "fit_columns", "is_learned"]

Context = Mapping[str, Any]

_LARGEST = float(np.finfo(np.float64).max)
_ABSENT = object()
_FLAG_BYTES = bytes.maketrans(b"FT", b"\x00\x01")


class Run(NamedTuple):
    """Flags that lie side by side, both as fields and as bits."""

    fields: slice
    bits: slice


class ContextReader:
    r"""Read contexts: the same bits as `ContextEncoder.encode`, but strict, and naming the place of what is wrong.

    Parameters
    ----------
    fields
        What a context may hold.
    columns
        The rule of each field. None while rules are still to be learned: contexts are checked, and bits mean nothing.

    Examples
    --------
    >>> fields = {"age": NumericField(edges=(30, 50)), "member": BooleanField()}
    >>> reader = ContextReader(fields, fit_columns(fields, []))
    >>> reader.encode({"age": 42, "member": True}, "$.context")
    b'\x00\x01\x00\x01'
    >>> reader.encode({"age": "old", "member": True}, "$.context")
    Traceback (most recent call last):
        ...
    bandit_forest.service.refusals.InvalidRequestError: '$.context.age' must be a finite number. Got 'old' instead.
    """

    def __init__(self, fields: Mapping[str, Field], columns: Mapping[str, Column] | None) -> None:
        self.encoder = None if columns is None else ContextEncoder.from_schema(columns)
        self._fields = fields
        self._n_variables = 0
        self._numbers: list[tuple[str, Sequence[float], list[int]]] = []
        self._flags: dict[str, int] = {}
        self._choices: list[tuple[str, dict[Any, int]]] = []
        self._missing: dict[str, int] = {}
        names = [(name, _column(field) if columns is None else columns[name]) for name, field in fields.items()]
        n_variables = sum(len(_variables(name, column)) for name, column in names)
        for name, column in names:
            self._add(name, column, n_variables)
        self._names = tuple(fields)
        self._run = _find_run(self._names, self._flags)

    def encode(self, context: Any, path: str) -> bytes:
        """Give the bits of a context, a byte each, or refuse it.

        Parameters
        ----------
        context
            The JSON value.
        path
            Where it is in the request.
        """
        if context.__class__ is not dict:
            _refuse(path, "an object with the fields of the project's context", context)
        get: Callable[[str], Any] = context.get
        bits = bytearray(self._n_variables + 1)  # one more, for outcomes that set no variable
        n_absent = 0
        for name, edges, places in self._numbers:
            value = get(name)
            kind = value.__class__
            if (kind is float or kind is int) and -_LARGEST <= value <= _LARGEST:
                bits[places[bisect_right(edges, value)]] = 1
            else:
                n_absent += self._odd(context, name, bits, path)
        run = self._run
        if run is not None and (names := tuple(context)) == self._names:  # as a program that always sends the same
            self._names = names  # its parser gives the same texts again: they are compared without being read
            flags = tuple(context.values())[run.fields]
        else:
            flags = tuple(map(get, self._flags))
        together = _as_bytes(flags)
        if together is not None:  # nothing is odd: no loop over many flags
            if run is not None:
                bits[run.bits] = together
            else:
                for if_true in compress(self._flags.values(), flags):
                    bits[if_true] = 1
        else:
            for (name, if_true), flag in zip(self._flags.items(), flags, strict=True):
                if flag is True:
                    bits[if_true] = 1
                elif flag is not False:
                    n_absent += self._odd(context, name, bits, path)
        for name, places_of in self._choices:
            value = get(name)
            kind = value.__class__
            place = places_of.get(value) if kind is str or kind is int else None
            if place is not None:
                bits[place] = 1
            else:
                n_absent += self._odd(context, name, bits, path)
        if len(context) + n_absent != len(self._fields):
            unknown = next(name for name in context if name not in self._fields)
            known = ", ".join(self._fields)
            raise InvalidRequestError(
                f"'{_at(path, unknown)}' is no field of the project's context. Its fields are: {known}.",
                path=_at(path, unknown),
            )
        return bytes(bits[:-1])

    def _odd(self, context: Any, name: str, bits: bytearray, path: str) -> int:
        """Take a value that is missing or never seen, or refuse it; give 1 when it is not there at all."""
        field, value = self._fields[name], context.get(name, _ABSENT)
        if value is None or value is _ABSENT:
            if not field.missing:
                _refuse(_at(path, name), f"{_rule(field)}: the project allows no missing value", None)
            bits[self._missing[name]] = 1
            return int(value is _ABSENT)
        is_text = isinstance(field, CategoricalField) and isinstance(value, (str, int)) and not isinstance(value, bool)
        if is_text and (field.open or field.values is None):  # type: ignore[union-attr]
            return 0
        _refuse(_at(path, name), _rule(field), value)

    def _add(self, name: str, column: Column, nowhere: int) -> None:
        places: list[int] = []
        for variable in column.outcome_names(name):
            places.append(nowhere if variable is None else self._n_variables)
            self._n_variables += variable is not None
        self._missing[name] = places[-2]
        field = self._fields[name]
        if isinstance(column, Numeric):
            self._numbers.append((name, column.edges, places))
        elif isinstance(field, BooleanField):
            self._flags[name] = places[1]  # false sets no variable
        else:
            assert isinstance(column, Categorical)
            self._choices.append((name, dict(zip(column.values, places, strict=False))))


def _as_bytes(flags: tuple[Any, ...]) -> bytes | None:
    r"""Give a byte for each flag, None unless each is true or false.

    A loop over a hundred flags takes as long as deciding; `marshal` writes each as one letter, at once.

    Examples
    --------
    >>> _as_bytes((True, False, True)), _as_bytes((True, 1)), _as_bytes((True, None))
    (b'\x01\x00\x01', None, None)
    """
    try:
        written = marshal.dumps(flags)
    except ValueError:  # what JSON does not have: it is refused by its name
        return None
    letters = written[2 if len(flags) < 256 else 5 :]  # after the mark of a tuple and its length
    only_flags = len(letters) == len(flags) and not letters.translate(None, b"FT")
    return letters.translate(_FLAG_BYTES) if only_flags else None


def _find_run(names: Sequence[str], flags: Mapping[str, int]) -> Run | None:
    """Give where all flags lie, if they are side by side."""
    if not flags:
        return None
    field, bit, size = names.index(next(iter(flags))), next(iter(flags.values())), len(flags)
    side_by_side = list(flags.items()) == list(zip(names[field : field + size], range(bit, bit + size), strict=False))
    return Run(slice(field, field + size), slice(bit, bit + size)) if side_by_side else None


def different_names(names: Sequence[str]) -> list[str]:
    """Give names that are all different: one that was there before is numbered.

    A value that is learned may make the name of a variable that another field has.

    Examples
    --------
    >>> different_names(["a = x", "a = y", "a = x", "a = x (2)"])
    ['a = x', 'a = y', 'a = x (3)', 'a = x (2)']
    """
    taken = set(names)
    given: dict[str, None] = {}
    for name in names:
        numbered = (f"{name} ({number})" for number in count(2))
        new = name if name not in given else next(other for other in numbered if other not in taken)
        taken.add(new)
        given[new] = None
    return list(given)


def is_learned(field: Field) -> bool:
    """Say whether the bins or values of a field are learned from the first events."""
    return (isinstance(field, NumericField) and field.edges is None) or (
        isinstance(field, CategoricalField) and field.values is None
    )


def fit_columns(fields: Mapping[str, Field], contexts: Sequence[Context]) -> dict[str, Column]:
    """Make the rule of every field, from the first contexts where the project leaves it open.

    Every learned field has at least one variable, also when it has not varied yet.

    Examples
    --------
    >>> contexts = [{"age": age} for age in range(20, 30)]
    >>> fit_columns({"age": NumericField(n_bins=2)}, contexts)
    {'age': Numeric(edges=(25.0,), missing=False)}
    """
    return {
        name: _fitted(name, field, [context.get(name) for context in contexts]) if is_learned(field) else _column(field)
        for name, field in fields.items()
    }


def _fitted(name: str, field: Field, values: list[Any]) -> Column:
    known = [value for value in values if value is not None]
    if isinstance(field, NumericField):
        column = fit_column(np.array(known, dtype=np.float64), "numeric", field.n_bins, name, "the context")
        assert isinstance(column, Numeric)
        edges = column.edges or (float(known[0]) if known else 0.0,)
        return Numeric(edges=edges, missing=field.missing)
    assert isinstance(field, CategoricalField)
    frequent = [value for value, _ in Counter(known).most_common(field.max_values)]
    numbers_first = sorted(frequent, key=lambda value: (isinstance(value, str), value))
    return Categorical(values=tuple(numbers_first), missing=field.missing)


def _column(field: Field) -> Column:
    if isinstance(field, NumericField):
        return Numeric(edges=field.edges or (), missing=field.missing)
    values = (False, True) if isinstance(field, BooleanField) else field.values or ()
    return Categorical(values=values, missing=field.missing)


def _variables(name: str, column: Column) -> list[str]:
    return [variable for variable in column.outcome_names(name) if variable is not None]


def _rule(field: Field) -> str:
    if isinstance(field, NumericField):
        return "a finite number"
    if isinstance(field, BooleanField):
        return "true or false"
    if field.open or field.values is None:
        return "a text or a whole number"
    return "one of " + ", ".join(map(repr, field.values))


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if name.isidentifier() and len(name) < 80 else f"{path}[{shown(name)}]"


def _refuse(path: str, rule: str, value: object) -> NoReturn:
    raise InvalidRequestError(f"'{path}' must be {rule}. Got {shown(value)} instead.", path=path)
