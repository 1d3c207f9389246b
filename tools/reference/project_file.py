"""The page of the project file."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from bandit_forest.bandit.features.kinds import KINDS
from bandit_forest.forest import BanditForest
from bandit_forest.rules import Greedy, InverseGap
from bandit_forest.service.config.project_file import Document
from bandit_forest.service.config.tables import Table
from reference.markdown import default_text, parameter_texts, table

__all__ = ["project_page", "typed_tables"]

NOT_IN_FILE = {"n_variables", "n_actions", "n_threads", "variable_names", "action_names", "thresholds"}
FORESTS = {"forest": BanditForest, "forest.growth": Greedy, "forest.exploration": InverseGap}
OFFERED = (
    "Instead of [actions], if each event offers its own actions: one table for each feature of an offered action, "
    "of the same kinds. Then [forest] holds the parameters of [`PairForest`](api/forest.md).\n"
)


def typed_tables() -> dict[str, type[Table]]:
    """Return the tables whose settings are the fields of a type."""
    hints = get_type_hints(Document)
    kinds = {name: next(iter(get_args(hint)), hint) for name, hint in hints.items()}  # of one that may be left out
    return {name: kind for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Table)}


def project_page() -> str:
    """Return the page."""
    parts = [
        "# Project file\n",
        "`bandit-forest init` writes a commented example. This page has all tables and settings.\n",
    ]
    for name, kind in typed_tables().items():
        parts += [f"## [{name}]\n", table(("setting", "meaning", "default"), _settings(kind))]
    parts.append("## [context.NAME]\n\nOne table for each feature. `kind` is one of the following.\n")
    for name, feature in KINDS.items():
        texts = parameter_texts(feature)
        shown = {"n_bins": "bins"}
        settings = [(f"`{shown.get(one.name, one.name)}`", texts[one.name]) for one in fields(feature)]
        parts += [f"### {name}\n", table(("setting", "meaning"), settings)]
    parts += ["## [offered.NAME]\n", OFFERED]
    for name, owner in FORESTS.items():
        texts = parameter_texts(owner)
        names = [one for one in inspect.signature(owner).parameters if one not in NOT_IN_FILE]
        parts += [f"## [{name}]\n", table(("setting", "meaning"), [(f"`{one}`", texts[one]) for one in names])]
    return "\n".join(parts)


def _settings(kind: Any) -> Iterator[tuple[str, str, str]]:
    texts = parameter_texts(kind)
    defaults = dict(zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False))
    for name in kind.__struct_fields__:
        yield f"`{name}`", texts[name], default_text(defaults.get(name))
