"""From rows to tables, figures and a page."""

from __future__ import annotations

import csv
import io
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from bandit_forest.cli import main
from bandit_forest.errors import DamagedFileError
from bandit_forest.experiments import EXPERIMENTS, Experiment
from bandit_forest.experiments.report import read_results, write_report
from bandit_forest.experiments.report.reading import NoResultsError
from bandit_forest.experiments.report.tables import notes, summary_csv, summary_lines, summary_markdown
from bandit_forest.experiments.run.description import describe_session
from bandit_forest.experiments.run.records import append_trial, open_run, results_file
from bandit_forest.experiments.run.trial import TrialRow, row_points

COVTYPE = EXPERIMENTS["paper/covtype"]
DESCRIPTION = "A made data set <small>: 3 rows, 2 variables, 2 actions"


def write_run(out: Path, experiment: Experiment, *, points: list[int], settings: dict[str, str]) -> Path:
    """Begin the results file of a run on made data; `settings` has their names and labels."""
    plays_data = not experiment.id.startswith("theory/")
    run = {
        "experiment": experiment.id,
        "title": experiment.title,
        "n_events": points[-1],
        "points": points,
        "data": {"covtype": {"name": "covtype", "description": DESCRIPTION}} if plays_data else {},
        "comparator": "a made forest",
    }
    described = {
        name: {"label": label, "world": {"name": "covtype"}, "policy": {"name": "Made", "parameters": {"size": 1}}}
        for name, label in settings.items()
    }
    file = results_file(out, experiment.id)
    open_run(file, run, described, describe_session(jobs=2))
    return file


def labels_of(experiment: Experiment) -> dict[str, str]:
    return {setting.name: setting.label for setting in experiment.settings}


def write_rows(file: Path, name: str, seed: int, rows: list[tuple[int, float, float]], seconds: float) -> None:
    """Write a finished trial."""
    append_trial(file, name, seed, [TrialRow(*row, seconds) for row in rows])


def write_made_results(out: Path, experiment: Experiment, *, n_events: int, n_trials: int) -> None:
    """Write plausible results of an experiment: every policy learns, some faster."""
    labels = labels_of(experiment)
    events = np.array(row_points(n_events))
    file = write_run(out, experiment, points=events.tolist(), settings=labels)
    draws = np.random.default_rng(0)
    for number, name in enumerate(labels):
        for seed in range(n_trials):
            best = 0.45 + 0.3 * number / len(labels) + 0.01 * draws.normal()
            reward = best * (events - n_events / 20 * (1 - np.exp(-events / n_events * 20)))
            rows = list(zip(events.tolist(), (0.8 * events - reward).tolist(), reward.tolist(), strict=True))
            write_rows(file, name, seed, rows, seconds=1.0 + number)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Two policies: one with three trials whose numbers are easy to check, one with a single trial."""
    file = write_run(tmp_path, COVTYPE, points=[150_000, 200_000, 300_000], settings=labels_of(COVTYPE))
    for seed, last in enumerate((60_000.0, 61_000.0, 62_000.0)):
        rows = [(150_000, 40_000.0, 70_000.0), (200_000, 50_000.0, 100_000.0)]
        rows.append((300_000, 50_000.0 + 80_000 - last, 100_000 + last))
        write_rows(file, "bandit-forest", seed, rows, seconds=100.0 + seed)
    rows = [(150_000, 70_000.0, 40_000.0), (200_000, 90_000.0, 60_000.0), (300_000, 120_000.0, 110_000.0)]
    write_rows(file, "banditron", 2, rows, seconds=2.5)
    return tmp_path


def test_a_summary_has_means_with_95_percent_intervals_and_the_paper_s_numbers_below(out: Path):
    (results,) = read_results(out)
    lines = {line.policy: line[1:] for line in summary_lines(results) if not line.is_from_paper}
    # Student's t for two degrees of freedom is 4.3027: 1,000 * 4.3027 / sqrt(3) = 2,484.
    assert lines == {
        "Comparator": ("3", "0", "80.0 ± 0.0 %", ""),
        "Bandit Forest, depth 10-18": ("3", "69,000 ± 2,484", "61.0 ± 2.5 %", "2 min"),
        "Banditron": ("1", "120 k", "50.0 %", "2.5 s"),
    }
    assert [line[1:] for line in summary_lines(results) if line.is_from_paper] == [
        ("10", "742 ± 50 k", "65.8 %", "500 min"),
        ("10", "1,990 ± 100 k", "49.1 %", "10 min"),
    ]


def test_the_summary_in_markdown(out: Path):
    (results,) = read_results(out)
    header, rule, *lines = summary_markdown(results).splitlines()
    assert header == "| policy | trials | regret | last 100,000 | time |"
    assert rule == "| --- | ---: | ---: | ---: | ---: |"
    assert lines[1] == "| Bandit Forest, depth 10-18 | 3 | 69,000 ± 2,484 | 61.0 ± 2.5 % | 2 min |"
    assert len(lines) == 5


def test_the_summary_for_other_programs(out: Path):
    rows = list(csv.DictReader(io.StringIO(summary_csv(read_results(out)))))
    assert [row["setting"] for row in rows] == ["paper/covtype/bandit-forest", "paper/covtype/banditron"]
    assert (rows[0]["n_events"], rows[0]["n_trials"]) == ("300000", "3")
    assert float(rows[0]["average_reward"]) == pytest.approx(161_000 / 300_000, rel=1e-5)
    assert float(rows[0]["rate"]) == pytest.approx(0.61)
    assert float(rows[0]["seconds_margin"]) == pytest.approx(2.484, abs=0.001)
    assert rows[1]["regret_margin"] == "nan"


def test_notes_say_how_many_events_and_which_data(out: Path):
    (results,) = read_results(out)
    said = " ".join(notes(results))
    assert "Trials of 300,000 events" in said
    assert "The paper's numbers are for 10,000,000 events" in said
    assert DESCRIPTION in said


def test_a_part_of_a_data_set_is_named_as_such_everywhere(out: Path):
    file = results_file(out, COVTYPE.id)
    file.write_text(file.read_text().replace('"name":"covtype","desc', '"name":"covtype-first3","desc'))
    (results,) = write_report(out)
    assert results.title == "Cover Type: which of 7 types of forest grows here (covtype-first3 only)"
    for name in ("report.html", "summary.md"):
        assert results.title in (out / name).read_text()
    assert ",covtype-first3," in (out / "summary.csv").read_text()


def test_what_the_paper_has_for_all_settings_is_said_once(tmp_path: Path):
    write_made_results(tmp_path, EXPERIMENTS["paper/readings"], n_events=1000, n_trials=1)
    (results,) = read_results(tmp_path)
    lines = summary_lines(results)
    assert [line.is_from_paper for line in lines] == [False, True] + [False] * (len(lines) - 2)
    assert lines[1] == ("In the paper", "10", "742 ± 50 k", "65.8 %", "500 min")


def test_a_short_trial_has_the_rate_of_all_its_events(tmp_path: Path):
    file = write_run(tmp_path, COVTYPE, points=[4, 10], settings={"uniform": "Uniform"})
    write_rows(file, "uniform", 0, [(4, 1.0, 2.0), (10, 2.0, 6.0)], seconds=0.01)
    (results,) = read_results(tmp_path)
    assert results.results[0].rates.tolist() == [0.6]
    assert results.results[0].comparator_rates.tolist() == [0.8]
    assert "of the last 10." in notes(results)[0]


def test_a_setting_that_the_experiment_no_longer_has_keeps_its_label(tmp_path: Path):
    file = write_run(tmp_path, COVTYPE, points=[10], settings={"something": "Something else"})
    write_rows(file, "something", 0, [(10, 2.0, 6.0)], seconds=0.01)
    (results,) = read_results(tmp_path)
    assert [line.policy for line in summary_lines(results)] == ["Comparator", "Something else"]


def test_a_trial_without_its_time_is_shown_without_one(out: Path):
    file = results_file(out, COVTYPE.id)
    file.write_text("".join(line for line in file.read_text().splitlines(True) if not line.startswith('{"time"')))
    (results,) = read_results(out)
    assert {line.time for line in summary_lines(results) if not line.is_from_paper} == {""}


DEFAULT = EXPERIMENTS["default/covtype"]


def test_the_default_forest_stands_below_the_paper_s_policies(out: Path):
    rows = [(150_000, 1.0, 2.0), (200_000, 2.0, 149_998.0), (300_000, 3.0, 229_997.0)]
    file = write_run(out, DEFAULT, points=[150_000, 200_000, 300_000], settings=labels_of(DEFAULT))
    write_rows(file, "bandit-forest", 0, rows, seconds=9.0)
    covtype, default = write_report(out)
    assert summary_lines(covtype)[-1] == ("Bandit Forest, default", "1", "3", "80.0 %", "9 s")
    assert summary_lines(covtype)[-1] == summary_lines(default)[-1]
    assert (out / "summary.csv").read_text().count("default/covtype/bandit-forest") == 1


def test_the_default_forest_on_other_streams_does_not(out: Path):
    file = write_run(out, DEFAULT, points=[10], settings=labels_of(DEFAULT))
    write_rows(file, "bandit-forest", 0, [(10, 2.0, 6.0)], seconds=0.01)
    covtype, _ = read_results(out)
    assert "Bandit Forest, default" not in [line.policy for line in summary_lines(covtype)]


class Tags(HTMLParser):
    """Collects tags, and checks that they are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "img"):
            self.open.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_is_whole_and_needs_no_other_file(out: Path):
    write_report(out)
    page = Tags()
    page.feed((out / "report.html").read_text())
    assert page.open == []
    assert len(page.sources) == 1
    assert page.sources[0].startswith("data:image/svg+xml;base64,")
    text = " ".join(page.texts)
    for expected in ("69,000 ± 2,484", "742 ± 50 k", DESCRIPTION, "a made forest", "Made(size=1)", "2 jobs",
                     "bandit-forest run paper/covtype --events 300000 --trials 3"):  # fmt: skip
        assert expected in text
    assert "http" not in re.sub(r"base64,[^\"]*", "", (out / "report.html").read_text())


@pytest.mark.parametrize("id", ["paper/covtype", "paper/depth", "paper/size", "paper/readings"])
@pytest.mark.parametrize("n_trials", [1, 3])
def test_every_kind_of_chart_is_drawn(id: str, n_trials: int, tmp_path: Path):
    experiment = EXPERIMENTS[id]
    write_made_results(tmp_path, experiment, n_events=200_000, n_trials=n_trials)
    write_report(tmp_path)
    name = experiment.id.replace("/", "-")
    assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "figures" / f"{name}.svg").read_text()
    assert "</svg>" in svg


def test_the_same_rows_give_the_same_files(out: Path):
    write_report(out)
    files = {path: path.read_bytes() for path in out.rglob("*") if path.suffix in (".png", ".svg", ".html", ".md")}
    assert len(files) == 4
    write_report(out)
    assert {path: path.read_bytes() for path in files} == files


def test_several_experiments_are_on_one_page(tmp_path: Path):
    for id in ("paper/covtype", "theory/actions"):
        write_made_results(tmp_path, EXPERIMENTS[id], n_events=1000, n_trials=2)
    assert [results.name for results in write_report(tmp_path)] == ["paper-covtype", "theory-actions"]
    page = (tmp_path / "report.html").read_text()
    assert page.count("<section>") == page.count("<img ") == 2
    assert (tmp_path / "summary.md").read_text().count("## ") == 2


def test_readings_are_ordered_by_their_distance_from_the_paper_s_rates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    ids = ("paper/readings", "paper/readings-adult", "paper/readings-census1990")
    rates = {"path-weights-union-0.05-64": (0.6, 0.3, 0.4), "path-weights-tree-0.05-64": (0.7, 0.31, 0.432)}
    for number, id in enumerate(ids):
        labels = {name: label for name, label in labels_of(EXPERIMENTS[id]).items() if name in rates}
        file = write_run(tmp_path, EXPERIMENTS[id], points=[1000], settings=labels)
        for name in rates:
            write_rows(file, name, 0, [(1000, 0.0, 1000 * rates[name][number])], seconds=1.0)
    monkeypatch.setattr(sys, "argv", ["bandit-forest", "report", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    chapter = (tmp_path / "summary.md").read_text().split("## Readings of the paper, the closest")[1]
    assert [line.split(" | ", 1)[1] for line in chapter.splitlines()[4:]] == [
        "65.8 % | 31.0 % | 43.2 % | 0.0 |",
        "70.0 % | 31.0 % | 43.2 % | 4.2 |",
        "60.0 % | 30.0 % | 40.0 % | 10.0 |",
    ]
    assert "distance" in capsys.readouterr().out


PAGE = """# A page

<!-- table: paper/covtype -->
{whole}
After.

<!-- table: paper/covtype, Banditron; Compa -->
{part}
<!-- table: paper/size -->
| policy |
<!-- table: closeness -->

| policy |
"""


def test_the_tables_of_a_page_are_written_anew(out: Path, monkeypatch: pytest.MonkeyPatch):
    page = out / "page.md"
    page.write_text(PAGE.format(whole="| old |\n| older |\n", part=""))
    monkeypatch.setattr(sys, "argv", ["bandit-forest", "report", str(out), "--page", str(page)])
    with pytest.raises(SystemExit):
        main()
    table = summary_markdown(read_results(out)[0])
    lines = table.splitlines(keepends=True)
    assert lines[2].startswith("| Comparator | ")
    assert lines[-2].startswith("| Banditron | ")
    assert page.read_text() == PAGE.format(whole=table, part="".join([*lines[:3], lines[-2]]))


def test_the_folder_of_one_group_can_be_reported_too(out: Path):
    (results,) = write_report(out / "paper")
    assert results.name == "paper-covtype"
    assert (out / "paper" / "figures" / "paper-covtype.png").exists()


def test_a_folder_without_finished_trials_is_answered_with_the_cure(tmp_path: Path):
    with pytest.raises(
        NoResultsError, match=r"has no finished trials. Make some with: bandit-forest run paper/covtype"
    ):
        read_results(tmp_path)
    write_run(tmp_path, COVTYPE, points=[10], settings={"uniform": "Uniform"})
    with pytest.raises(NoResultsError):
        read_results(tmp_path)


def test_damaged_files_are_refused(out: Path):
    file = results_file(out, COVTYPE.id)
    file.write_text(file.read_text().replace("40000", "forty", 1))
    with pytest.raises(DamagedFileError, match=r"covtype.jsonl, line 12 cannot be read: .* Remove the line and run"):
        read_results(out)


def test_the_command_ends_with_the_table(out: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    monkeypatch.setattr(sys, "argv", ["bandit-forest", "report", str(out)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    for expected in ("paper/covtype", "69,000 ± 2,484", "742 ± 50 k", "report.html"):
        assert expected in printed
