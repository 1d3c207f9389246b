"""Logs and policies by what is written on a command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType

from bandit_forest import archive
from bandit_forest.bandit import Bandit
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.encoding import ContextEncoder
from bandit_forest.errors import refuse
from bandit_forest.evaluation.log import Source, checked_range
from bandit_forest.evaluation.readers import (
    Columns,
    read_csv,
    read_dsjson,
    read_export,
    read_obp,
    read_open_bandit,
    read_parquet,
    read_vw,
)
from bandit_forest.evaluation.readers.csv_rows import refuse_encoding
from bandit_forest.evaluation.readers.lines import is_number
from bandit_forest.evaluation.readers.notes import range_in
from bandit_forest.evaluation.readers.tables import open_parquet
from bandit_forest.evaluation.targets import Target, always, as_it_stands, column, uniform
from bandit_forest.forest import BanditForest

__all__ = ["FORMATS", "encoder_path", "open_log", "open_policy", "read_encoder"]

_ENDINGS = MappingProxyType(
    {
        ".vw": "vw",
        ".txt": "vw",
        ".dsjson": "dsjson",
        ".json": "dsjson",
        ".jsonl": "dsjson",
        ".npz": "obp",
        ".csv": "csv",
        ".parquet": "parquet",
    }
)
_READERS: Mapping[str, Callable[..., Source]] = MappingProxyType(
    {"vw": read_vw, "dsjson": read_dsjson, "obp": read_obp, "parquet": read_export}
)
_BANDITS: Mapping[str | None, type[Bandit] | type[PairBandit]] = MappingProxyType(
    {"Bandit": Bandit, "PairBandit": PairBandit}
)
FORMATS = ("vw", "dsjson", "obp", "csv", "parquet", "open-bandit", "open-bandit-items")


def open_log(
    path: Path,
    *,
    format: str | None = None,
    columns: Sequence[str] = (),
    actions: Sequence[str] = (),
    reward_low: float | None = None,
    reward_high: float | None = None,
) -> Source:
    """Return a reader of a log.

    Parameters
    ----------
    path
        The file.
    format
        One of `FORMATS`; told from the ending of the file when None.
    columns
        Which column of a table is what, as 'reward=click'.
    actions
        Names of the actions; those of the file when empty.
    reward_low, reward_high
        The least and the largest possible reward; when None, what a Parquet file tells, else 0 and 1.
    """
    kind = _ENDINGS.get(path.suffix.lower()) if format is None else format
    if kind not in FORMATS:
        rule = f"told by the ending of the file, or given by --format as one of {', '.join(FORMATS)}"
        refuse("format", path.name, rule, path.suffix if format is None else format)
    names = list(actions) or None
    if kind in ("open-bandit", "open-bandit-items"):
        return read_open_bandit(path, actions=names, offers=kind == "open-bandit-items")
    told = checked_range(range_in(open_parquet(path).schema_arrow), path.name) if kind == "parquet" else (0.0, 1.0)
    reward_range = (told[0] if reward_low is None else reward_low, told[1] if reward_high is None else reward_high)
    if kind == "csv":
        return read_csv(path, columns=_columns(columns), actions=names, reward_range=reward_range)
    if kind == "parquet" and columns:
        return read_parquet(path, columns=_columns(columns), actions=names, reward_range=reward_range)
    return _READERS[kind](path, actions=names, reward_range=reward_range)


def open_policy(text: str, *, encoder: ContextEncoder | None = None) -> Target:
    """Return the policy that a text names: uniform, always:ACTION, column:NAME, or [NAME=]FILE.

    Parameters
    ----------
    text
        The text. The file is that of a saved `Bandit` for a log with features, of a saved `PairBandit` for a log with
        offers, or of a saved forest.
    encoder
        Encodes features for a forest; that in the file beside it when None, if there is one.

    Examples
    --------
    >>> open_policy("always:discount")
    <_Always: always discount>
    """
    if text == "uniform":
        return uniform()
    kind, sign, rest = text.partition(":")
    if sign and kind == "always":
        return always(int(rest) if is_number(rest) else rest, name=f"always {rest}")
    if sign and kind == "column":
        return column(rest)
    name, sign, file = text.rpartition("=")
    path = Path(file)
    if not path.is_file():
        rule = "a file that exists, of a saved Bandit, PairBandit or forest; or uniform, always:ACTION, column:NAME"
        refuse("policy", "bandit-forest evaluate", rule, text)
    shown = name if sign else path.stem
    saved = archive.read(path)[0].get("policy")
    if saved in _BANDITS:
        return as_it_stands(_BANDITS[saved].load(path), name=shown)
    forest = BanditForest.load(path)
    beside = encoder_path(path)
    if encoder is None and beside.is_file():
        encoder = read_encoder(beside)
    return as_it_stands(forest, encoder=encoder, name=shown)


def read_encoder(path: Path) -> ContextEncoder:
    """Return the encoder in a file of JSON."""
    try:
        return ContextEncoder.from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        refuse_encoding(path)


def encoder_path(forest: Path) -> Path:
    """Return where the encoder of a forest is saved: beside it."""
    return forest.with_name(f"{forest.stem}.encoder.json")


def _columns(texts: Sequence[str]) -> Columns:
    known = {field.name for field in fields(Columns)}
    given: dict[str, str | list[str]] = {}
    for text in texts:
        role, sign, name = text.partition("=")
        if not sign or role not in known:
            refuse("column", "bandit-forest", f"ROLE=NAME, the role one of {', '.join(sorted(known))}", text)
        given[role] = name.split(",") if role in ("features", "texts") or "," in name else name
    return Columns(**given)  # type: ignore[arg-type]
