"""Data sets of the UCI repository, read from UCI's own files and encoded as contexts."""

from bandit_forest.worlds.datasets.dataset import Dataset
from bandit_forest.worlds.datasets.fetching import DownloadError, fetch
from bandit_forest.worlds.datasets.folders import cache_folder, data_folder
from bandit_forest.worlds.datasets.loading import load
from bandit_forest.worlds.datasets.reading import MissingDataError
from bandit_forest.worlds.datasets.sources import NAMES

__all__ = [
    "NAMES",
    "Dataset",
    "DownloadError",
    "MissingDataError",
    "cache_folder",
    "data_folder",
    "fetch",
    "load",
]
