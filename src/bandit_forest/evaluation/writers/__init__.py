"""Writers of logs: Vowpal Wabbit's text and dsjson, Open Bandit Pipeline's arrays, and Parquet as our export."""

from bandit_forest.evaluation.writers.dsjson import write_dsjson
from bandit_forest.evaluation.writers.obp import obp_feedback, write_obp
from bandit_forest.evaluation.writers.parquet import write_parquet
from bandit_forest.evaluation.writers.vw import vw_lines, write_vw

__all__ = ["obp_feedback", "vw_lines", "write_dsjson", "write_obp", "write_parquet", "write_vw"]
