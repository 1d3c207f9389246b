"""A storage folder that begins with a saved bandit, and the project file that is made for one."""

from __future__ import annotations

import random
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from projects import opened

from bandit_forest import Bandit, InvalidArgumentError, PairBandit
from bandit_forest.bandit import CategoricalFeature, LabelsFeature, NumericFeature
from bandit_forest.cli import main
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.project_file import load_project, parse_project
from bandit_forest.service.config.project_for_bandit import project_for_bandit
from bandit_forest.service.config.tables import Storage
from bandit_forest.service.recovery.start import begin_from
from bandit_forest.service.recovery.verify import verify


def visit(rng: random.Random) -> dict[str, Any]:
    """Return a context with numbers, texts, flags, labels, moments, gaps, and a name with a space."""
    return {
        "age": rng.choice([None, rng.randint(18, 80)]),
        "country of birth": rng.choice(["FR", "DE", "España"]),
        "member": rng.random() < 0.5,
        "tags": rng.sample(["new", "sale", "gift"], 2),
        "seen": datetime(2026, 1, rng.randint(1, 28), rng.randint(0, 23), tzinfo=UTC),
    }


def learned_bandit(**options: Any) -> Bandit:
    bandit, rng = Bandit(actions=["a", "b", "c"], warm_up_events=40, forest={"n_trees": 5}, **options), random.Random(1)
    for _ in range(60):
        bandit.learn(bandit.decide(visit(rng)), reward=bandit.reward_range[1] * rng.random())
    bandit.remove_action("c")
    return bandit


def fitting(bandit: Bandit | PairBandit, folder: Path) -> Project:
    return replace(parse_project(project_for_bandit(bandit), name="made.toml"), storage=Storage(folder=folder))


def test_a_bandit_that_has_learned_its_features_can_be_served_with_them(tmp_path: Path) -> None:
    bandit = learned_bandit(reward_range=(-1.5, 250.0))
    bandit.save(tmp_path / "offers.bandit")
    project = fitting(bandit, tmp_path / "data")
    assert project.context == bandit.features
    assert (project.action_names, project.reward.low, project.reward.high) == (("a", "b"), -1.5, 250.0)
    begin_from(project, tmp_path / "offers.bandit")
    rng = random.Random(2)
    for _ in range(2):  # it starts again on the same folder
        with opened(project) as decider:
            given = {name: value for name, value in visit(rng).items() if name not in ("seen", "tags")}
            decided = decider.decide(given | {"seen": "2026-01-02T03:04", "tags": ["new"]})
            decider.reward(decided.event_id, 1.0)
    assert verify(project).n_events == 62


def test_what_does_not_fit_is_refused_before_there_is_a_folder(tmp_path: Path) -> None:
    bandit = learned_bandit()
    bandit.save(tmp_path / "offers.bandit")
    project = fitting(bandit, tmp_path / "data")
    wrong = replace(project, context={**project.context, "age": NumericFeature(n_bins=5)})
    with pytest.raises(InvalidArgumentError) as refused:
        begin_from(wrong, tmp_path / "offers.bandit")
    assert str(refused.value).startswith("The 'context' of the project must be as in the saved bandit '")
    assert "bandit-forest init --from" in str(refused.value)
    assert not (tmp_path / "data").exists()
    begin_from(replace(project, warm_up_events=7), tmp_path / "offers.bandit")  # the warm-up is over


def test_a_folder_that_began_with_the_same_file_goes_on_and_another_one_is_refused(tmp_path: Path) -> None:
    bandit = learned_bandit()
    bandit.save(tmp_path / "offers.bandit")
    project = fitting(bandit, tmp_path / "data")
    begin_from(project, tmp_path / "offers.bandit")  # and then the port was in use, say
    for n_decisions in range(2):
        begin_from(project, tmp_path / "offers.bandit")
        with opened(project) as decider:
            assert decider.status().decisions == n_decisions
            decider.decide(dict.fromkeys(project.context) | {"tags": []})
    bandit.decide(visit(random.Random(3)))
    bandit.save(tmp_path / "other.bandit")
    with pytest.raises(InvalidArgumentError, match="it holds a journal already, so leave out --from to go on with it"):
        begin_from(project, tmp_path / "other.bandit")
    assert (tmp_path / "data" / "base.bandit").read_bytes() == (tmp_path / "offers.bandit").read_bytes()


@pytest.mark.parametrize(
    "features",
    [
        {"x": NumericFeature(thresholds=(-1.5, 2e-7)), "y": NumericFeature(n_bins=3, missing=True)},
        {'a "quoted" name': CategoricalFeature(values=("é", "\\", '"'), open=True, max_values=7)},
        {"tags.x": LabelsFeature(labels=("one", "two"))},
        {"a\x7fb": CategoricalFeature(values=("\x7f", "\x00\x1f\x80\t\n", "\u2028\U0001f600"))},
    ],
)
def test_every_feature_is_written_as_the_project_file_reads_it(features: dict[str, Any]) -> None:
    bandit = Bandit(actions=["stay", 'say "go"'], features=features)
    project = parse_project(project_for_bandit(bandit), name="made.toml")
    assert project.context == features
    assert project.action_names == ("stay", 'say "go"')


def test_half_a_character_is_refused_in_one_sentence() -> None:
    for bandit in (
        Bandit(actions=["stay", "go"], features={"\ud800": "numeric"}),
        Bandit(actions=["stay", "go"], features={"city": CategoricalFeature(values=("\ud800",))}),
    ):
        with pytest.raises(InvalidArgumentError, match=r"made of whole characters, and the bandit has .*ud800"):
            project_for_bandit(bandit)


def test_a_project_file_is_made_for_offered_actions_too(tmp_path: Path) -> None:
    bandit = PairBandit(context_features={"age": "numeric"}, action_features={"price": "numeric"}, reward_range=(0, 9))
    project = parse_project(project_for_bandit(bandit), name="made.toml")
    assert (project.context, project.offered) == (bandit.context_features, bandit.action_features)
    assert project.reward.high == 9.0


def test_replicas_do_not_begin_with_a_saved_bandit(tmp_path: Path) -> None:
    learned_bandit().save(tmp_path / "offers.bandit")
    project = fitting(learned_bandit(), tmp_path / "data")
    shared = replace(project, storage=replace(project.storage, journal="postgresql://me:secret@host/database"))
    with pytest.raises(InvalidArgumentError, match="must be 'sqlite' with --from") as raised:
        begin_from(shared, tmp_path / "offers.bandit")
    assert "secret" not in str(raised.value)
    assert not (tmp_path / "data").exists()


def test_no_project_file_is_made_before_the_features_are_known() -> None:
    with pytest.raises(InvalidArgumentError, match="learned after 200 more lessons: learn them first, or call 'fit'"):
        project_for_bandit(Bandit(actions=["stay", "go"]))


@pytest.mark.parametrize("name", ["missing.bandit", "folder"])
def test_a_saved_bandit_that_cannot_be_read_is_told_in_one_sentence(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    told = []
    for words in (["init", "made.toml"], ["serve", "offers.toml"]):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "offers.toml").write_text(project_for_bandit(learned_bandit()))
        monkeypatch.setattr(sys, "argv", ["bandit-forest", *words, "--from", name])
        with pytest.raises(SystemExit) as ended:
            main()
        told.append(ended.value.code)
    assert told[0] == told[1]
    assert str(told[0]).startswith(f"bandit-forest: '{name}' cannot be read: ")
    assert not (tmp_path / "made.toml").exists()


def test_the_command_writes_it(monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> None:
    learned_bandit().save(tmp_path / "offers.bandit")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["bandit-forest", "init", "--from", "offers.bandit", "offers.toml"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    assert "bandit-forest serve offers.toml --from offers.bandit" in capsys.readouterr().out
    begin_from(load_project("offers.toml"), Path("offers.bandit"))
