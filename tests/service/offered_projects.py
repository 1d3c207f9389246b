"""A small project whose events offer their own actions, to try the service with."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import msgspec
from projects import Decider

from bandit_forest.bandit import BooleanFeature, CategoricalFeature, Feature, NumericFeature
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.tables import Storage
from bandit_forest.service.domain.state import ServiceContext
from bandit_forest.service.errors import invalid_type
from bandit_forest.service.operations.rank import rank as rank_operation
from bandit_forest.service.operations.requests import LearnOfferedRequest, RankRequest
from bandit_forest.service.operations.results import Learned, Ranked
from bandit_forest.service.operations.reward import learn_offered

CONTEXT_FEATURES: dict[str, Feature] = {"age": NumericFeature(thresholds=(30, 50)), "member": BooleanFeature()}
ACTION_FEATURES: dict[str, Feature] = {
    "price": NumericFeature(thresholds=(5, 10, 15), missing=True),
    "kind": CategoricalFeature(values=("phone", "case"), open=True),
}
LEARNED_FEATURES: dict[str, Feature] = {"price": NumericFeature(missing=True), "kind": CategoricalFeature()}
FOREST = {"n_trees": 5, "seed": 7, "growth": {"min_events": 4, "log_capacity": 1024}, "n_names": 64}

CONTEXT = {"age": 42, "member": True}
OFFER = [{"id": "a17", "price": 9.9, "kind": "phone"}, {"id": 18, "price": 3.5, "kind": "case"}]

PROJECT_FILE = """
[project]
name = "offered"
{project}
[context.age]
kind = "numeric"
thresholds = [30, 50]
[context.member]
kind = "boolean"
[offered.price]
kind = "numeric"
thresholds = [5, 10, 15]
missing = true
[offered.kind]
kind = "categorical"
values = ["phone", "case"]
open = true
[forest]
n_trees = 5
[storage]
folder = "data"
"""


def write_offered_project(folder: Path, *, project: str = "", more: str = "") -> Path:
    """Write a small project file."""
    file = folder / "project.toml"
    file.write_text(PROJECT_FILE.format(project=project) + more)
    return file


def make_offered_project(folder: Path, **parts: Any) -> Project:
    """Make a project whose features are declared, or those of `parts`."""
    given = {"context": CONTEXT_FEATURES, "offered": ACTION_FEATURES, "forest": FOREST} | parts
    return Project(**given, storage=Storage(folder=folder))


def rank(service: ServiceContext, context: Any = CONTEXT, actions: Any = OFFER, **more: Any) -> Ranked:
    """Rank an offer that is read as the JSON of a request would be."""
    return rank_operation(service, _read(RankRequest, {"context": context, "actions": actions, **more})).answer


def learn(service: ServiceContext, **given: Any) -> Learned:
    """Learn an event from elsewhere."""
    return learn_offered(service, _read(LearnOfferedRequest, given)).answer


def context(rng: random.Random) -> dict[str, Any]:
    """Draw a context."""
    return {"age": rng.randint(18, 80), "member": rng.random() < 0.5}


def offer(rng: random.Random, n_actions: int = 4) -> list[dict[str, Any]]:
    """Draw some actions; ids are texts and ints."""
    numbers = rng.sample(range(40), n_actions)
    prices, kinds = (None, 2.5, 7, 12.0, 20), ("phone", "case", "cable")
    return [
        {"id": number if number % 2 else f"a{number}", "price": rng.choice(prices), "kind": kinds[number % 3]}
        for number in numbers
    ]


def play(decider: Decider, n_events: int, *, start: int = 0, seed: int = 1) -> None:
    """Rank and reward events; every fifth waits for ever, and every tenth is followed by one from elsewhere."""
    rng = random.Random(seed)
    for number in range(start, start + n_events):
        given, offered = context(rng), offer(rng)
        ranked = rank(decider.context, given, offered, event_id=f"e{number}", n_ranked=rng.choice([None, 2]))
        chosen = next(action for action in offered if action["id"] == ranked.action)
        liked = (given["age"] >= 50) == ((chosen["price"] or 0) >= 10)
        if number % 5:
            decider.reward(ranked.event_id, float(liked))
        if number % 10 == 0:
            event = {"context": context(rng), "action": offered[0], "reward": 0.5, "propensity": 0.25}
            learn(decider.context, **event, event_id=f"l{number}")


def _read(kind: Any, value: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise invalid_type(error) from None
