"""Which variables of a context each column sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bandit_forest.encoding.column import Column

__all__ = ["ColumnLayout", "Layout", "lay_out"]


class ColumnLayout(NamedTuple):
    """The part of one column: by outcome, the variable that it sets, and the code to which it sets it.

    The variable of an outcome that sets none is one behind the last. The limits are the column's.
    """

    name: str
    column: Column
    variables: list[int]
    codes: list[int]
    limits: tuple[float, ...]


class Layout(NamedTuple):
    """The variables of a context, the thresholds of those that are ordered, and the part of each column."""

    variable_names: list[str]
    thresholds: dict[int, tuple[float, ...]]
    columns: list[ColumnLayout]


def lay_out(columns: Mapping[str, Column]) -> Layout:
    """Return the layout of contexts: the variables of each column, one column after the other."""
    outcomes = {name: column.outcome_names(name) for name, column in columns.items()}
    own = {
        name: list(dict.fromkeys(variable for variable in given if variable is not None))
        for name, given in outcomes.items()
    }
    nowhere = sum(map(len, own.values()))
    layout = Layout([], {}, [])
    for name, column in columns.items():
        first = len(layout.variable_names)
        if thresholds := column.ordered_thresholds():
            layout.thresholds[first] = thresholds
        layout.variable_names.extend(own[name])
        numbers = {variable: number for number, variable in enumerate(own[name], first)}
        variables = [nowhere if variable is None else numbers[variable] for variable in outcomes[name]]
        layout.columns.append(ColumnLayout(name, column, variables, column.outcome_codes(), column.limits))
    return layout
