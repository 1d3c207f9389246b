"""JSON contexts: checked against the project's fields, and encoded as binary variables, in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NoReturn

import numpy as np

from bandit_forest import _core
from bandit_forest.encoding import Binned, Categorical, Column, ContextEncoder, Numeric
from bandit_forest.encoding.fitting import Resolution, fit_column
from bandit_forest.encoding.layout import lay_out
from bandit_forest.errors import shown
from bandit_forest.service.fields import BooleanField, CategoricalField, Field, NumericField
from bandit_forest.service.refusals import InvalidRequestError

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
    bandit_forest.service.refusals.InvalidRequestError: '$.context.age' must be a finite number. Got 'old' instead.
    """

    def __init__(self, fields: Mapping[str, Field], columns: Mapping[str, Column] | None) -> None:
        self.encoder = None if columns is None else ContextEncoder.from_schema(columns)
        self._fields = fields
        layout = lay_out({name: _column(field) for name, field in fields.items()} if columns is None else columns)
        self._parts = {part.name: part for part in layout.columns}
        self._n_variables = len(layout.variable_names)
        self._core = None if layout.thresholds else _core.FieldReader(self._n_variables)  # it sets bits, not codes
        if self._core is not None:
            for name in fields:
                self._tell_core(name, self._core)

    def encode(self, context: Any, path: str) -> bytes:
        """Give the bits of a context, a byte each, or refuse it.

        Parameters
        ----------
        context
            The JSON value.
        path
            Where it is in the request.
        """
        bits = None if self._core is None else self._core.read(context)
        return self.encode_plainly(context, path) if bits is None else bits

    def encode_plainly(self, context: Any, path: str) -> bytes:
        """Do the same field by field: what the core must equal, and what it leaves to Python, be it odd or refused."""
        if context.__class__ is not dict:
            _refuse(path, "an object with the fields of the project's context", context)
        bits = bytearray(self._n_variables + 1)  # one more, for outcomes that set no variable
        for name, part in self._parts.items():
            outcome = self._outcome(name, context.get(name), path)
            bits[part.variables[outcome]] = part.codes[outcome]
        for name in context:
            if name not in self._fields:
                known = ", ".join(self._fields)
                where = _at(path, name)
                message = f"'{where}' is no field of the project's context. Its fields are: {known}."
                raise InvalidRequestError(message, path=where)
        return bytes(bits[:-1])

    def _outcome(self, name: str, value: Any, path: str) -> int:
        """Return the outcome of a value, or refuse it."""
        field, column, n_outcomes = self._fields[name], self._parts[name].column, len(self._parts[name].codes)
        kind = value.__class__
        if value is None:
            if not field.missing:
                _refuse(_at(path, name), f"{_rule(field)}: the project allows no missing value", None)
            return n_outcomes - 2
        if isinstance(field, NumericField):
            if (kind is float or kind is int) and -_LARGEST <= value <= _LARGEST:
                return column.outcome(value, name, "the context")
        elif isinstance(field, BooleanField):
            if kind is bool:
                return int(value)
        elif kind is str or kind is int:
            outcome = column.outcome(value, name, "the context")
            is_known = outcome < n_outcomes - 2
            if is_known or field.open or field.values is None:
                return outcome
        _refuse(_at(path, name), _rule(field), value)

    def _tell_core(self, name: str, core: _core.FieldReader) -> None:
        field, (_, column, variables, codes, limits) = self._fields[name], self._parts[name]
        places = [place if code else self._n_variables for place, code in zip(variables, codes, strict=True)]
        missing = places[-2] if field.missing else None
        if isinstance(field, NumericField):
            core.add_number(name, missing, limits, places)
        elif isinstance(field, BooleanField):
            core.add_flag(name, missing, if_false=places[0], if_true=places[1])
        else:
            assert isinstance(column, Categorical)
            core.add_category(name, missing, dict(zip(column.values, places, strict=False)))


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
    """Return whether the thresholds, bins or values of a field are learned from the first events."""
    return (isinstance(field, NumericField) and field.is_learned) or (
        isinstance(field, CategoricalField) and field.values is None
    )


def fit_columns(fields: Mapping[str, Field], contexts: Sequence[Context]) -> dict[str, Column]:
    """Make the rule of every field, from the first contexts where the project leaves it open.

    Every learned field has at least one variable, also when it has not varied yet.

    Examples
    --------
    >>> contexts = [{"age": age} for age in range(20, 30)]
    >>> fit_columns({"age": NumericField(n_bins=2)}, contexts)
    {'age': Binned(edges=(25.0,), missing=False)}
    >>> fit_columns({"age": NumericField()}, contexts[:4])
    {'age': Numeric(thresholds=(21.0, 22.0, 23.0), missing=False)}
    """
    return {
        name: _fitted(name, field, [context.get(name) for context in contexts]) if is_learned(field) else _column(field)
        for name, field in fields.items()
    }


def _fitted(name: str, field: Field, values: list[Any]) -> Column:
    known = [value for value in values if value is not None]
    if isinstance(field, NumericField):
        resolution = Resolution(n_bins=field.n_bins)
        column = fit_column(np.array(known, dtype=np.float64), "numeric", resolution, name, "the context")
        return _number_column(field, column.limits or (float(known[0]) if known else 0.0,))
    assert isinstance(field, CategoricalField)
    frequent = [value for value, _ in Counter(known).most_common(field.max_values)]
    numbers_first = sorted(frequent, key=lambda value: (isinstance(value, str), value))
    return Categorical(values=tuple(numbers_first), missing=field.missing)


def _column(field: Field) -> Column:
    if isinstance(field, NumericField):
        return _number_column(field, field.thresholds or field.edges or ())
    values = (False, True) if isinstance(field, BooleanField) else field.values or ()
    return Categorical(values=values, missing=field.missing)


def _number_column(field: NumericField, limits: tuple[float, ...]) -> Column:
    if field.is_ordered:
        return Numeric(thresholds=limits, missing=field.missing)
    return Binned(edges=limits, missing=field.missing)


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
