"""The compiled reader of contexts: the variables of a dict whose values are plain, without Python in between."""

from __future__ import annotations

from collections.abc import Mapping

from bandit_forest import _core
from bandit_forest.bandit.features.kinds import BooleanFeature, CategoricalFeature, Feature
from bandit_forest.encoding import Categorical, ContextEncoder
from bandit_forest.encoding.layout import lay_out

__all__ = ["Reader", "make_reader"]

Reader = _core.FieldReader


def make_reader(features: Mapping[str, Feature], encoder: ContextEncoder, *, ignored: str | None = None) -> Reader:
    """Return a reader that gives the variables of a context, or None when there is anything odd about it.

    It reads dicts by name, and rows of values in the order of the sorted names.

    Parameters
    ----------
    features
        What a context may hold.
    encoder
        The rule of each of its columns.
    ignored
        A field with a text or an int that is not a feature, such as an id.
    """
    reader = Reader(encoder.n_variables)
    names = [*features] if ignored is None else [*features, ignored]
    in_row = {name: index for index, name in enumerate(sorted(names))}
    if ignored is not None:  # one behind the last variable sets none
        reader.add_category(ignored, in_row[ignored], None, {}, other=encoder.n_variables)
    for name, column, variables, codes, limits in lay_out(encoder.columns_).columns:
        feature = features[name]
        missing = variables[-2] if feature.missing else None
        if isinstance(feature, BooleanFeature):
            reader.add_flag(name, in_row[name], missing, if_false=variables[0], if_true=variables[1])
        elif isinstance(column, Categorical):
            is_open = isinstance(feature, CategoricalFeature) and feature.is_open
            known: dict[object, int] = dict(zip(column.values, variables, strict=False))
            reader.add_category(name, in_row[name], missing, known, other=variables[-1] if is_open else None)
        else:
            reader.add_number(name, in_row[name], missing, limits, variables, codes)
    return reader
