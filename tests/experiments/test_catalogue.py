"""The experiments as values with ids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bandit_forest import BanditForest, BanditTree, InvalidArgumentError
from bandit_forest.experiments import EXPERIMENTS, Experiment, Made, Setting, find
from bandit_forest.experiments.run.factory import (
    Environment,
    all_parameters,
    make_environment,
    make_model,
    make_player,
)
from bandit_forest.worlds import HiddenTree
from bandit_forest.worlds.datasets import NAMES

SUMMARIES = ("paper/covtype", "paper/adult", "paper/census1990")
SETTINGS = [(experiment, setting) for experiment in EXPERIMENTS.values() for setting in experiment.settings]


def test_the_experiments_of_the_paper_have_their_ids():
    assert {*SUMMARIES, "paper/depth", "paper/size", "paper/readings"} <= set(EXPERIMENTS)
    assert any(id.startswith("theory/") for id in EXPERIMENTS)
    assert all(experiment.id == id for id, experiment in EXPERIMENTS.items())


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.id)
def test_labels_are_different_and_begin_with_their_family(experiment: Experiment):
    labels = [setting.label for setting in experiment.settings]
    assert len(set(labels)) == len(labels)
    assert all(setting.label.startswith(setting.family) for setting in experiment.settings)


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda experiment: experiment.id)
def test_names_are_different_and_good_for_commands_and_files(experiment: Experiment):
    names = [setting.name for setting in experiment.settings]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name) for name in names)


@pytest.mark.parametrize(("experiment", "setting"), SETTINGS, ids=[e.setting_id(s) for e, s in SETTINGS])
def test_every_setting_can_be_made(experiment: Experiment, setting: Setting):
    assert find(experiment.setting_id(setting)) == (experiment, (setting,))
    if setting.world.name in NAMES:
        environment = Environment(world=HiddenTree(n_variables=20, n_actions=3))
    else:
        environment = make_environment(setting.world, None)
    assert set(setting.policy.parameters) <= set(all_parameters(setting.policy))
    if make_model(setting.policy) is None:
        batch = next(environment.world.batches(10, seed=0))
        assert len(make_player(setting.policy, environment, seed=3).play(batch.contexts, batch.rewards).actions) == 10


@pytest.mark.parametrize(
    "wrong", ["paper", "paper/covtype/0", "paper/covtype/ucb-1", "paper/covtype/", "", "nothing/uniform"]
)
def test_an_unknown_id_is_refused(wrong: str):
    with pytest.raises(InvalidArgumentError, match="The 'id' of run must be one of paper/covtype, "):
        find(wrong)


def test_the_documented_ids_exist_and_all_are_documented():
    page = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()
    for id in re.findall(r"bandit-forest run ([a-z0-9]+/[a-z0-9/-]+)", page):
        find(id)
    assert set(re.findall(r"^\| `(\w+/[\w-]+)` \|", page, re.MULTILINE)) == set(EXPERIMENTS)


@pytest.mark.parametrize("id", SUMMARIES)
def test_the_paper_s_numbers_stand_beside_the_five_policies_it_compares(id: str):
    published = {setting.name: setting.published for setting in EXPERIMENTS[id].settings if setting.published}
    assert len(published) == 5
    regrets = {name: entry.regret for name, entry in published.items()}
    assert max(regrets, key=regrets.__getitem__) == "banditron"
    assert regrets["bandit-forest"] < regrets["bandit-tree"]


@pytest.mark.parametrize("id", SUMMARIES)
def test_the_default_forest_stands_beside_the_summaries(id: str):
    beside = EXPERIMENTS[EXPERIMENTS[id].beside]
    (world,) = {setting.world.name for setting in EXPERIMENTS[id].settings}
    assert [setting.world for setting in beside.settings] == [Made(name=world)]
    assert [setting.policy for setting in beside.settings] == [Made(name="BanditForest")]


def test_the_preset_is_the_first_of_the_readings():
    preset = BanditForest.paper(n_variables=1, n_actions=2).parameters
    readings = [setting.policy.parameters for setting in EXPERIMENTS["paper/readings"].settings]
    assert readings[0] == {"growth": preset["growth"], "exploration": preset["exploration"]}


def test_the_preset_of_a_tree_is_one_of_the_tolerances():
    preset = {"growth": BanditTree(n_variables=1, n_actions=2).parameters["growth"], "max_depth": 8}
    assert preset in [dict(setting.policy.parameters) for setting in EXPERIMENTS["paper/tolerance"].settings]


def test_all_parameters_tell_the_defaults_and_what_a_preset_sets():
    forest, linear = (find(f"paper/covtype/{name}")[1][0].policy for name in ("bandit-forest", "lin-ucb"))
    forest = all_parameters(forest)
    assert forest["max_depth"] == (10, 18)
    assert forest["growth"] == BanditForest.paper(n_variables=1, n_actions=2).parameters["growth"]
    assert all_parameters(linear).keys() == {"width", "ridge"}


def test_the_seed_of_a_trial_is_the_policy_s():
    setting = EXPERIMENTS["paper/depth"].settings[0]
    environment = Environment(world=HiddenTree(n_variables=20, n_actions=3))
    assert make_player(setting.policy, environment, seed=5).parameters["seed"] == 5
