"""Readers of logs: Vowpal Wabbit's text and dsjson, Open Bandit Pipeline's arrays, tables, and our own export."""

from bandit_forest.evaluation.readers.columns import Columns
from bandit_forest.evaluation.readers.dsjson import read_dsjson
from bandit_forest.evaluation.readers.known import read_export, read_open_bandit
from bandit_forest.evaluation.readers.obp import read_obp
from bandit_forest.evaluation.readers.tables import read_csv, read_frame, read_parquet
from bandit_forest.evaluation.readers.vw import read_vw

__all__ = [
    "Columns",
    "read_csv",
    "read_dsjson",
    "read_export",
    "read_frame",
    "read_obp",
    "read_open_bandit",
    "read_parquet",
    "read_vw",
]
