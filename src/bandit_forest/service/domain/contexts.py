"""JSON contexts: checked against the project's fields, and encoded as binary variables, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NoReturn

import numpy as np

from bandit_forest import _core
from bandit_forest.encoding import Categorical, Column, ContextEncoder, Numeric
from bandit_forest.encoding.fitting import fit_column
from bandit_forest.errors import shown
from bandit_forest.service.config.fields import BooleanField, CategoricalField, Field, NumericField
from bandit_forest.service.errors import InvalidRequestError

__all__ = ["ContextReader", "different_names", "fit_columns", "is_learned"]

Context = Mapping[str, Any]

_LARGEST = float(np.finfo(np.float64).max)


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
    bandit_forest.service.errors.InvalidRequestError: '$.context.age' must be a finite number. Got 'old' instead.
    """

    def __init__(self, fields: Mapping[str, Field], columns: Mapping[str, Column] | None) -> None:
        self.encoder = None if columns is None else ContextEncoder.from_schema(columns)
        self._fields = fields
        self._columns = {name: _column(field) for name, field in fields.items()} if columns is None else columns
        self._places = _places(self._columns)
        self._n_variables = sum(len(_variables(name, column)) for name, column in self._columns.items())
        self._core = _core.FieldReader(self._n_variables)
        for name in fields:
            self._tell_core(name)

    def encode(self, context: Any, path: str) -> bytes:
        """Give the bits of a context, a byte each, or refuse it.

        Parameters
        ----------
        context
            The JSON value.
        path
            Where it is in the request.
        """
        bits = self._core.read(context)
        return self.encode_plainly(context, path) if bits is None else bits

    def encode_plainly(self, context: Any, path: str) -> bytes:
        """Do the same field by field: what the core must equal, and what it leaves to Python, be it odd or refused."""
        if context.__class__ is not dict:
            _refuse(path, "an object with the fields of the project's context", context)
        bits = bytearray(self._n_variables + 1)  # one more, for outcomes that set no variable
        for name in self._fields:
            bits[self._place(name, context.get(name), path)] = 1
        for name in context:
            if name not in self._fields:
                known = ", ".join(self._fields)
                where = _at(path, name)
                message = f"'{where}' is no field of the project's context. Its fields are: {known}."
                raise InvalidRequestError(message, path=where)
        return bytes(bits[:-1])

    def _place(self, name: str, value: Any, path: str) -> int:
        """Give the place of the variable that a value sets, or refuse it."""
        field, column, places = self._fields[name], self._columns[name], self._places[name]
        kind = value.__class__
        if value is None:
            if not field.missing:
                _refuse(_at(path, name), f"{_rule(field)}: the project allows no missing value", None)
            return places[-2]
        if isinstance(field, NumericField):
            if (kind is float or kind is int) and -_LARGEST <= value <= _LARGEST:
                return places[column.outcome(value, name, "the context")]
        elif isinstance(field, BooleanField):
            if kind is bool:
                return places[int(value)]
        elif kind is str or kind is int:
            place = column.outcome(value, name, "the context")
            is_known = place < len(places) - 2
            if is_known or field.open or field.values is None:
                return places[place]
        _refuse(_at(path, name), _rule(field), value)

    def _tell_core(self, name: str) -> None:
        field, column, places = self._fields[name], self._columns[name], self._places[name]
        missing = places[-2] if field.missing else None
        if isinstance(column, Numeric):
            self._core.add_number(name, missing, column.edges, places)
        elif isinstance(field, BooleanField):
            self._core.add_flag(name, missing, if_false=places[0], if_true=places[1])
        else:
            assert isinstance(column, Categorical)
            self._core.add_category(name, missing, dict(zip(column.values, places, strict=False)))


def _places(columns: Mapping[str, Column]) -> dict[str, list[int]]:
    """Give the place of the variable of each outcome of each field; behind all where an outcome has none."""
    names = {name: column.outcome_names(name) for name, column in columns.items()}
    nowhere = sum(variable is not None for outcomes in names.values() for variable in outcomes)
    number = count()
    return {
        name: [nowhere if variable is None else next(number) for variable in outcomes]
        for name, outcomes in names.items()
    }


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
