"""From rows to what people read: tables, figures and a page."""

from bandit_forest.experiments.report.reading import read_results
from bandit_forest.experiments.report.writing import write_report

__all__ = ["read_results", "write_report"]
