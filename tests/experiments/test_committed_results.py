"""The results that are kept with the code: small, readable, of experiments as they are now, and those of the docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bandit_forest.experiments import EXPERIMENTS
from bandit_forest.experiments.report import read_results
from bandit_forest.experiments.report.pages import fill_tables
from bandit_forest.experiments.report.results import Results
from bandit_forest.experiments.run.description import describe_setting
from bandit_forest.experiments.run.records import read_records, result_files

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
FILES = result_files(RESULTS)

pytestmark = pytest.mark.skipif(not FILES, reason="results are not part of a source distribution")


@pytest.fixture(scope="module")
def all_results() -> list[Results]:
    return read_results(RESULTS)


def test_there_are_few_files_and_they_are_small():
    files = [path for path in RESULTS.rglob("*") if path.suffix in (".jsonl", ".csv")]
    assert len(files) <= 40
    assert sum(path.stat().st_size for path in files) < 5_000_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_trial_is_of_a_setting_in_the_catalogue(path: Path):
    records = read_records(path)
    assert path.relative_to(RESULTS).with_suffix("").as_posix() == records.run["experiment"]
    names = {setting.name for setting in EXPERIMENTS[records.run["experiment"]].settings}
    assert {name for name, _ in records.trials} <= names
    assert records.trials.keys() == records.seconds.keys()


@pytest.mark.parametrize("path", [path for path in FILES if path.parent.name == "paper"], ids=lambda path: path.stem)
def test_the_paper_s_runs_can_be_continued(path: Path):
    records = read_records(path)
    for setting in EXPERIMENTS[records.run["experiment"]].settings:
        if setting.name in records.settings:
            assert {"name": setting.name, **describe_setting(setting)} == records.settings[setting.name]


@pytest.mark.parametrize("name", ["results.md", "readings.md"])
def test_the_tables_of_the_docs_are_those_of_the_report(name: str, all_results: list[Results]):
    page = (ROOT / "docs" / name).read_text()
    assert page.count("<!-- table: ") >= 3
    assert fill_tables(page, all_results) == page
    assert len(page.split()) <= 1500


def test_the_paper_s_forest_and_tree_end_near_the_paper_s_on_cover_type(all_results: list[Results]):
    (covtype,) = (results for results in all_results if results.experiment.id == "paper/covtype")
    rates = {result.setting.name: result.rates for result in covtype.results if result.setting.published}
    for name, published in (("bandit-forest", 0.658), ("bandit-tree", 0.642)):
        assert len(rates[name]) == 10
        assert abs(rates[name].mean() - published) < 0.02
