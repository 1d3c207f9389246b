"""The command line and the demonstration: what they print, what they write, and what they say when a part is absent."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

import pytest

import bandit_forest
from bandit_forest.cli import main
from bandit_forest.cli.demo import contestants, regret_figure
from bandit_forest.errors import MissingExtraError
from bandit_forest.simulation import Row, simulate
from bandit_forest.worlds import HiddenTree

CURE = "pip install 'bandit-forest[cli,plot]'"


def run(monkeypatch, *arguments: str) -> object:
    """Run the command in this process; return its exit status, or the line that it ends with."""
    monkeypatch.setattr(sys, "argv", ["bandit-forest", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_version(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out == f"bandit-forest {bandit_forest.__version__}\n"


def test_help_names_the_commands(monkeypatch, capsys):
    assert run(monkeypatch, "--help") == 0
    assert "demo" in capsys.readouterr().out


def test_an_unknown_command_is_refused(monkeypatch, capsys):
    assert run(monkeypatch, "fly") == 2
    assert "fly" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["--events", "0"], ["--events", "many"], ["--seed", "-1"]])
def test_a_wrong_option_is_refused(monkeypatch, capsys, wrong):
    assert run(monkeypatch, "demo", *wrong) == 2
    assert wrong[0] in capsys.readouterr().err


@pytest.mark.parametrize("name", ["out.csv", "out", "out.parquet.gz"])
def test_an_export_is_parquet_by_its_name_too(monkeypatch, tmp_path, name):
    ended = run(monkeypatch, "export", str(tmp_path / name), str(tmp_path / "project.toml"))
    assert "'table' of bandit-forest export must be a file name that ends in .parquet" in ended
    assert not (tmp_path / name).exists()


def test_the_console_script_is_main():
    (script,) = entry_points(group="console_scripts", name="bandit-forest")
    assert script.load() is main


def test_demo_prints_a_table_and_rules_and_draws_a_figure(monkeypatch, capsys, tmp_path):
    figure = tmp_path / "new folder" / "regret.png"
    assert run(monkeypatch, "demo", "--events", "3000", "--seed", "1", "--figure", str(figure)) == 0
    printed = capsys.readouterr().out
    for text in ("Bandit Forest", "Bandit Tree", "UCB", "Uniform", "regret", "average reward", "optimal", "events/s"):
        assert text in printed
    assert "events)" in printed.split("The rules of the Bandit Tree:")[1]
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_demo_shows_what_it_claims():
    """Forest and tree find the hidden tree within the demonstration's events, which UCB without contexts cannot."""
    world = HiddenTree()
    forest, tree, ucb, uniform = (
        simulate(policy, world, n_events=100_000, seed=0, rows=[60_000, 100_000])
        for policy in contestants(world, seed=0)
    )
    assert tree[1].regret == tree[0].regret < 25_000
    assert forest[1].regret < 2_000  # it never stops exploring, but for little
    assert forest[1].regret - forest[0].regret < 400
    assert uniform[1].regret > ucb[1].regret > 60_000


def test_names_stand_beside_their_lines_and_apart():
    ends = {"a": 100.0, "b": 2.0, "c": 1.0}
    (axes,) = regret_figure({name: [Row(10, end, 0.5, 0.5, 1.0)] for name, end in ends.items()}).axes
    places = {label.get_text(): label.xy for label in axes.texts}
    assert places["a"] == (10, 100.0)
    assert places["c"] == (10, 1.0)
    assert places["b"][1] - places["c"][1] >= 0.05 * axes.get_ylim()[1]
    colours = {label.get_text(): label.get_color() for label in axes.texts}
    assert [colours[name] for name in ends] == [line.get_color() for line in axes.lines]


@pytest.mark.parametrize("absent", ["matplotlib", "rich"])
def test_demo_without_an_extra_says_how_to_get_it(monkeypatch, tmp_path, absent):
    monkeypatch.setitem(sys.modules, absent, None)
    monkeypatch.setitem(sys.modules, f"{absent}.console", None)
    told = run(monkeypatch, "demo", "--figure", str(tmp_path / "regret.png"))
    assert CURE in str(told)
    assert absent in str(told)


def test_the_command_without_typer_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    assert run(monkeypatch, "demo") == f"bandit-forest: The command line needs typer: {CURE}."


def test_a_missing_extra_is_an_import_error():
    assert issubclass(MissingExtraError, ImportError)
