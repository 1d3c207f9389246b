"""The public surface, and what importing it does not import."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import bandit_forest
from bandit_forest import baselines, checks, evaluation, worlds
from bandit_forest.evaluation import readers, writers

OPTIONAL = (
    "coba",
    "matplotlib",
    "narwhals",
    "pandas",
    "polars",
    "pyarrow",
    "ray",
    "rich",
    "river",
    "scipy",
    "sklearn",
    "typer",
)

SURFACE = {
    bandit_forest: {
        *(
            "Bandit",
            "BanditForest",
            "BanditTree",
            "Elimination",
            "Greedy",
            "InverseGap",
            "PairBandit",
            "PairForest",
            "ContextEncoder",
            "LinUCB",
            "simulate",
        ),
        *("Decision", "Decisions", "Played", "Policy", "CheckedPolicy", "check_policy", "__version__"),
        "Explanation",
        *("BanditForestError", "DamagedFileError", "InvalidArgumentError", "MissingExtraError"),
    },
    baselines: {"Banditron", "LinUCB", "NeuralBandit", "SuccessiveElimination", "UCB", "Uniform"},
    checks: {
        *("Check", "CheckFailedError", "MakePairPolicy", "MakePolicy", "PairPolicy", "PairSubject", "Subject"),
        *("all_checks", "all_pair_checks", "cases", "check_pair_policy", "check_policy"),
    },
    evaluation: {
        *(
            "Log",
            "Offered",
            "Source",
            "Target",
            "Means",
            "Estimate",
            "Interval",
            "Evaluation",
            "Finding",
            "Level",
        ),
        *("evaluate", "always", "as_it_stands", "column", "logged_probabilities", "uniform"),
        *("ips", "snips", "direct", "doubly_robust", "confidence_sequence"),
        *("Progressive", "Replay", "learn_along", "replay"),
    },
    readers: {
        *("Columns", "read_csv", "read_dsjson", "read_export", "read_frame", "read_obp", "read_open_bandit"),
        *("read_parquet", "read_vw"),
    },
    writers: {"obp_feedback", "vw_lines", "write_dsjson", "write_obp", "write_parquet", "write_vw"},
    worlds: {
        *("Batch", "World", "SyntheticWorld", "StationaryWorld", "JointDistribution"),
        *("Classification", "Drifting", "HiddenTree", "Linear", "Stump", "Table1", "Xor"),
    },
}


def modules_after(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has imported after a statement."""
    script = f"{statement}; import json, sys; print(json.dumps(sorted(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    return {name.split(".")[0] for name in json.loads(printed)}


@pytest.mark.parametrize(
    "module",
    [
        "bandit_forest",
        "bandit_forest.baselines",
        "bandit_forest.simulation",
        "bandit_forest.cli",
        "bandit_forest.cli.demo",
        "bandit_forest.evaluation",
        "bandit_forest.evaluation.readers",
        "bandit_forest.adapters",
    ],
)
def test_importing_imports_no_optional_dependency(module):
    assert modules_after(f"import {module}").isdisjoint(OPTIONAL)


@pytest.mark.parametrize("module", SURFACE, ids=lambda module: module.__name__)
def test_the_public_names_are_these(module):
    assert set(module.__all__) == SURFACE[module]


@pytest.mark.parametrize("module", SURFACE, ids=lambda module: module.__name__)
def test_every_public_name_is_there(module):
    assert all(hasattr(module, name) for name in module.__all__)


def test_the_package_is_typed():
    from importlib.resources import files

    assert files("bandit_forest").joinpath("py.typed").is_file()
