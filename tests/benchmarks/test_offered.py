"""Vowpal Wabbit is given what we think: its weights are those of the features and products that it was shown."""

import re

import numpy as np
import pytest

from bandit_forest.worlds.pairs import TreePairs
from offered.policies import VowpalWabbit, examples_of

pytest.importorskip("vowpalwabbit")

WORLD = TreePairs(n_context_features=3, n_action_features=4, n_actions=30, n_offered=5)


def taught(tmp_path, arguments="-q ca", n_events=300):
    model = tmp_path / "model.txt"
    player = VowpalWabbit(f"--squarecb --gamma_scale 100 -l 0.5 {arguments} --invert_hash {model}")
    offers = list(WORLD.events(n_events, seed=1))
    for offer in offers:
        player.learn(offer, player.decide(offer))
    last = np.array(player.predict(offers[-1]))
    player.finish()
    return offers[-1], last, model.read_text()


def weights_of(model):
    """Return the weight of each feature by its name, as Vowpal Wabbit writes them."""
    lines = re.findall(r"^(\S+):\d+:(\S+)", model, re.MULTILINE)
    return {name: float(weight) for name, weight in lines}


def test_it_has_a_weight_for_each_feature_and_each_product(tmp_path):
    _, _, model = taught(tmp_path)
    names = set(weights_of(model))
    single = {f"c^f{i}" for i in range(3)} | {f"a^f{j}" for j in range(4)} | {"Constant"}
    products = {f"c^f{i}*a^f{j}" for i in range(3) for j in range(4)}
    assert names == single | products


def test_its_best_action_is_the_one_of_least_cost_by_these_weights(tmp_path):
    offer, shares, model = taught(tmp_path)
    weights = weights_of(model)
    context, actions = 2.0 * offer.context - 1.0, 2.0 * offer.actions - 1.0
    costs = np.full(len(actions), weights["Constant"])
    for i in range(3):
        costs += weights[f"c^f{i}"] * context[i]
        for j in range(4):
            costs += weights[f"c^f{i}*a^f{j}"] * context[i] * actions[:, j]
    for j in range(4):
        costs += weights[f"a^f{j}"] * actions[:, j]
    assert shares.argmax() == costs.argmin()


def test_names_of_features_are_texts():
    offer = next(WORLD.events(1, seed=0))
    for line in examples_of(offer, named=True):
        for feature in re.findall(r" ([^\s|:]+):?", line):
            assert not feature.isdigit() or line.startswith("|")
            assert re.fullmatch(r"f\d+|id\d+", feature)
