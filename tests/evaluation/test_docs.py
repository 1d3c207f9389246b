"""The commands of the how-to, on the files that the how-to makes."""

from __future__ import annotations

import doctest
import re
import shlex
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from bandit_forest import MissingExtraError
from bandit_forest.cli import main
from bandit_forest.evaluation import Log, evaluate, uniform
from bandit_forest.evaluation.readers import Columns
from bandit_forest.evaluation.report import write_report

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


def test_every_role_of_a_column_is_in_the_table():
    table = PAGE.read_text(encoding="utf-8").partition("## Roles of columns")[2].partition("```")[0]
    roles = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert sorted(roles) == sorted(field.name for field in fields(Columns))


def test_the_commands_of_the_how_to(monkeypatch, capsys, tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for example in doctest.DocTestParser().get_examples(page):
        exec(example.source, names)
        if "write_offers" in names:
            break
    for number, month in enumerate(("october", "november"), start=1):
        names["write_offers"](tmp_path / f"{month}.csv", 10_000, number)
    monkeypatch.chdir(tmp_path)
    commands = re.search(r"```console\n(.*?)```", page, re.DOTALL)[1].splitlines()
    for command in commands:
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
    assert "new is better than logged" in capsys.readouterr().out
    assert (tmp_path / "november.html").stat().st_size > 10_000


def test_the_extra_of_a_report_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    log = Log(actions=[0], rewards=[1], propensities=[0.5], action_names=2)
    with pytest.raises(MissingExtraError) as refused:
        write_report(evaluate(log, [uniform()]), tmp_path / "report.html")
    cure = re.search(r"pip install .*'", str(refused.value))[0]
    (paragraph,) = [text for text in PAGE.read_text(encoding="utf-8").split("\n\n") if "`--report` writes" in text]
    assert cure in paragraph
