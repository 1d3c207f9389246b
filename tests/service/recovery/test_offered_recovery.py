"""Offered actions and what is kept of them: replay, snapshots, verify, backup, export, migration, kills."""

from __future__ import annotations

import json
import random
import sqlite3
from contextlib import closing
from dataclasses import replace as replace_data
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from offered_projects import (
    ACTION_FEATURES,
    CONTEXT,
    LEARNED_FEATURES,
    OFFER,
    context,
    make_offered_project,
    offer,
    play,
    rank,
    write_offered_project,
)
from projects import Clock, make_project, opened
from running import Running

from bandit_forest.bandit import NumericFeature
from bandit_forest.bandit.pairs import PairBandit
from bandit_forest.bandit.pairs.settings import PairBanditSettings
from bandit_forest.errors import DamagedFileError, InvalidArgumentError
from bandit_forest.service.config.project_file import load_project
from bandit_forest.service.config.tables import RewardRule, Storage
from bandit_forest.service.journal.files import journal_files, read_entries
from bandit_forest.service.recovery.migrate import migrate
from bandit_forest.service.recovery.recover import open_folder, rebuild, recover
from bandit_forest.service.recovery.start import Service, begin_from
from bandit_forest.service.recovery.verify import verify


@pytest.mark.parametrize("features", [ACTION_FEATURES, LEARNED_FEATURES], ids=["declared", "learned"])
def test_the_state_is_a_function_of_the_journal(tmp_path: Path, features: dict[str, Any]) -> None:
    project = make_offered_project(
        tmp_path, offered=features, warm_up_events=60, reward=RewardRule(window_seconds=50, default=0.0)
    )
    clock = Clock()
    for part in range(4):
        with opened(project, clock) as decider:
            play(decider, 40, start=40 * part, seed=part)
            clock.now += 30
            decider.expire()
            if part % 2:
                decider.snapshot()()
            play(decider, 10, start=1000 + 10 * part, seed=part)
            seq = decider.state.seq
        folder = open_folder(project)
        recovered, rebuilt = recover(folder), rebuild(folder)
        assert (recovered.state.seq, recovered.n_differing) == (seq, 0)
        assert recovered.state.learner.to_bytes() == rebuilt.learner.to_bytes()
        assert recovered.state.waiting == rebuilt.waiting
        assert recovered.state.remembered == rebuilt.remembered
        assert verify(project).n_entries == seq


def test_rankings_are_drawn_again_on_replay_and_differences_are_counted(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path)
    with opened(project) as decider:
        play(decider, 50)
    for file in project.storage.folder.glob("snapshot-*"):
        file.unlink()
    folder = open_folder(project)
    assert recover(folder).n_differing == 0
    other = replace_data(folder.identity.settings, forest=folder.identity.settings.forest | {"seed": 8})
    changed = replace_data(folder, identity=replace_data(folder.identity, settings=other))
    assert recover(changed).n_differing > 10
    assert list(recover(changed).state.waiting) == list(recover(folder).state.waiting)


def test_the_journal_has_the_offer_and_the_ranking_as_text(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path)
    with opened(project) as decider:
        told = rank(decider.context, event_id="e", n_ranked=1)
    (entry,) = read_entries(project.storage.folder)
    record = json.loads(entry.available)
    assert (entry.action, entry.propensity) == (str(told.action), told.propensity)
    assert record["actions"] == OFFER
    assert (len(record["order"]), record["n_ranked"]) == (2, 1)
    assert record["propensities"][record["order"][0]] == told.propensity


def test_a_damaged_offer_is_told_with_its_entry(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path)
    with opened(project) as decider:
        rank(decider.context, event_id="e")
    for file in project.storage.folder.glob("snapshot-*"):
        file.unlink()
    (file,) = journal_files(project.storage.folder)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE entries SET available = '{}'")
    with pytest.raises(DamagedFileError, match="entry 1 is not as it was written"):
        verify(project)


def test_a_folder_refuses_a_project_of_other_actions_or_other_offered_features(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path)
    Service.start(project).stop()
    with opened(project) as decider:
        rank(decider.context)
    with pytest.raises(InvalidArgumentError, match="actions is 'fixed' and was 'offered'"):
        Service.start(make_project(tmp_path))
    dearer = ACTION_FEATURES | {"price": NumericFeature(thresholds=(5, 10))}
    with pytest.raises(InvalidArgumentError, match=r"offered.price.thresholds is .* and was"):
        Service.start(make_offered_project(tmp_path, offered=dearer))
    with pytest.raises(InvalidArgumentError, match=r"offered.weight is a numeric feature and was absent"):
        Service.start(make_offered_project(tmp_path, offered=ACTION_FEATURES | {"weight": NumericFeature()}))
    with pytest.raises(InvalidArgumentError, match=r"forest.n_trees is 6 and was 5"):
        Service.start(make_offered_project(tmp_path, forest={"n_trees": 6}))
    Service.start(make_offered_project(tmp_path, forest={"n_trees": 5})).stop()


def test_an_identity_is_read_as_it_was_written(tmp_path: Path) -> None:
    settings = make_offered_project(tmp_path).settings
    assert isinstance(settings, PairBanditSettings)
    assert PairBanditSettings.from_json(json.loads(json.dumps(settings.to_json()))) == settings
    bandits = [PairBandit.from_settings(settings) for _ in range(2)]
    assert bandits[0].to_bytes() == bandits[1].to_bytes()
    assert bandits[0].settings == settings


def test_a_backup_is_a_folder_to_go_on_with(tmp_path: Path) -> None:
    project = make_offered_project(tmp_path / "data")
    with opened(project) as decider:
        play(decider, 60)
        decider.snapshot()()
        play(decider, 5, start=100)
        decider.context.journal.tail.result()
        decider.backup(tmp_path / "backup")
    copy = replace(project, storage=Storage(folder=tmp_path / "backup"))
    assert verify(copy).n_entries == verify(project).n_entries
    with opened(copy) as decider:
        play(decider, 5, start=200)


def test_a_saved_bandit_begins_a_folder_of_offered_actions_only(tmp_path: Path) -> None:
    bandit = PairBandit.from_settings(make_offered_project(tmp_path).settings)
    rng = random.Random(1)
    for _ in range(30):
        bandit.learn(bandit.decide(context(rng), actions=offer(rng)), reward=1.0)
    bandit.save(tmp_path / "saved.bandit")
    project = make_offered_project(tmp_path / "data")
    begin_from(project, tmp_path / "saved.bandit")
    with opened(project) as decider:
        assert decider.status().model_version == 30
        assert rank(decider.context, event_id="e").action == bandit.decide(CONTEXT, actions=OFFER, key="e").action
        decider.reward("e", 1.0)
    assert verify(project).n_events == 31
    with pytest.raises(DamagedFileError, match="does not hold a Bandit"):
        begin_from(make_project(tmp_path / "fixed"), tmp_path / "saved.bandit")
    PairBandit().save(tmp_path / "cold.bandit")
    with pytest.raises(InvalidArgumentError, match="after its warm-up"):
        begin_from(make_offered_project(tmp_path / "cold"), tmp_path / "cold.bandit")


def test_a_bandit_that_has_learned_its_features_can_be_served_with_them(tmp_path: Path) -> None:
    bandit, rng = PairBandit(warm_up_events=30, forest={"n_trees": 5}), random.Random(1)
    for _ in range(40):
        bandit.learn(bandit.decide(context(rng), actions=offer(rng)), reward=1.0)
    bandit.save(tmp_path / "saved.bandit")
    project = make_offered_project(
        tmp_path / "data",
        context=bandit.context_features,
        offered=bandit.action_features,
        forest={"n_trees": 5},
        warm_up_events=30,
    )
    begin_from(project, tmp_path / "saved.bandit")
    with opened(project) as decider:
        assert rank(decider.context, event_id="e").model_version == 40


def test_a_journal_is_carried_over_into_other_features(tmp_path: Path) -> None:
    old = make_offered_project(tmp_path / "old")
    with opened(old) as decider:
        play(decider, 100)
    new = make_offered_project(
        tmp_path / "new",
        context={"age": NumericFeature(thresholds=(40,))},
        offered={"price": NumericFeature(thresholds=(10,))},
    )
    report = migrate(old, new)
    assert report.left_out.keys() == {"an action has no fitting 'price'"}  # of those whose price is missing
    assert report.n_kept == 110 - report.left_out.total() > 30
    assert report.dropped_features["member"] == 110
    assert verify(new).n_events == report.n_rewards
    with opened(new) as decider:
        assert rank(decider.context, {"age": 50}, [{"id": 1, "price": 3}]).propensity == 1.0
    for kinds in ((old, make_project(tmp_path / "fixed")), (make_project(tmp_path / "fixed2"), new)):
        with opened(kinds[0]) as decider:
            decider.context.journal.tail.result()
        with pytest.raises(InvalidArgumentError, match="as in the old one: events cannot be carried over"):
            migrate(kinds[0], replace(kinds[1], storage=Storage(folder=tmp_path / "nowhere")))


def test_kills_between_requests_lose_nothing(tmp_path: Path) -> None:
    """The long form is `benchmarks/prove.py rank-kills`."""
    file, rng = write_offered_project(tmp_path), random.Random(3)
    told: dict[str, Any] = {}
    bodies: dict[str, Any] = {}
    for turn in range(3):
        with Running(file) as service:
            for name, answer in told.items():
                assert service.post("/v1/rank", bodies[name]) == answer
            for number in range(20):
                name = f"{turn}-{number}"
                bodies[name] = {"event_id": name, "context": context(rng), "actions": offer(rng)}
                told[name] = service.post("/v1/rank", bodies[name])
                if number % 2:
                    service.post("/v1/reward", {"event_id": name, "reward": rng.random()})
            service.kill()
        project = load_project(file)
        assert verify(project).n_events == 10 * (turn + 1)
        assert {entry.event_id for entry in read_entries(project.storage.folder)} == told.keys()
