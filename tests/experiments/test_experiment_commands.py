"""The commands that list experiments and fetch their data."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bandit_forest.cli import main
from bandit_forest.experiments import EXPERIMENTS, commands


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["bandit-forest", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_the_list_of_experiments_names_every_id(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    assert command(monkeypatch, "experiments") == 0
    printed = capsys.readouterr().out
    assert all(id in printed for id in EXPERIMENTS)


def test_the_list_of_an_experiment_names_every_setting(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    assert command(monkeypatch, "experiments", "paper/covtype") == 0
    printed = capsys.readouterr().out
    assert all(f"paper/covtype/{setting.name}" in printed for setting in EXPERIMENTS["paper/covtype"].settings)


def test_fetching_tells_where_the_files_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
):
    asked = []

    def fetch(name: str, folder: Path, *, progress) -> list[Path]:
        asked.append((name, folder))
        progress(5, 10)
        return [folder / "adult.data", folder / "adult.test"]

    monkeypatch.setattr(commands, "fetch", fetch)
    assert command(monkeypatch, "data", "fetch", "adult", "--data", str(tmp_path)) == 0
    assert asked == [("adult", tmp_path)]
    assert capsys.readouterr().out.splitlines()[-2:] == [str(tmp_path / "adult.data"), str(tmp_path / "adult.test")]


@pytest.mark.parametrize("arguments", [("data", "fetch", "iris"), ("run", "paper/iris")])
def test_unknown_names_are_refused_in_one_line(arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    message = command(monkeypatch, *arguments)
    assert message.startswith("bandit-forest: The '")
    assert "iris" in message
