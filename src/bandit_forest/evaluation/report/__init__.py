"""An evaluation as one HTML page."""

from bandit_forest.evaluation.report.page import write_report

__all__ = ["write_report"]
