"""The compiled reader of contexts: the variables of a dict whose values are plain, without Python in between."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from bandit_forest import _core
from bandit_forest.bandit.features.kinds import BooleanFeature, Feature
from bandit_forest.encoding import Categorical, Column, ContextEncoder, Numeric

__all__ = ["make_reader"]


def make_reader(features: Mapping[str, Feature], encoder: ContextEncoder) -> _core.FieldReader:
    """Return a reader that gives the variables of a context, or None when there is anything odd about it."""
    columns = encoder.columns_
    variables = _variables(columns)
    reader = _core.FieldReader(encoder.n_variables)
    for name, feature in features.items():
        column, outcomes = columns[name], variables[name]
        missing = outcomes[-2] if feature.missing else None
        if isinstance(column, Numeric):
            reader.add_number(name, missing, column.edges, outcomes)
        elif isinstance(feature, BooleanFeature):
            reader.add_flag(name, missing, if_false=outcomes[0], if_true=outcomes[1])
        else:
            assert isinstance(column, Categorical)
            reader.add_category(name, missing, dict(zip(column.values, outcomes, strict=False)))
    return reader


def _variables(columns: Mapping[str, Column]) -> dict[str, list[int]]:
    """Return the variable of each outcome of each column; one beyond the last where an outcome sets none."""
    names = {name: column.outcome_names(name) for name, column in columns.items()}
    nowhere = sum(variable is not None for outcomes in names.values() for variable in outcomes)
    number = count()
    return {
        name: [nowhere if variable is None else next(number) for variable in outcomes]
        for name, outcomes in names.items()
    }
