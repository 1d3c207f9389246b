"""Bodies by a grammar, through the application: each answered or refused, and a refused one changes nothing."""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bandit_forest.bandit import Bandit, BooleanFeature, CategoricalFeature, NumericFeature
from bandit_forest.service.config.project import Project
from bandit_forest.service.config.tables import Actions, Limits, Storage
from bandit_forest.service.domain.state import State
from bandit_forest.service.http.application import DecisionApplication
from bandit_forest.service.http.messages import Request
from bandit_forest.service.recovery.start import Service
from bandit_forest.service.recovery.verify import verify
from proofs.grammar import PATHS, RANK_PATHS, make_body

__all__ = ["BODIES", "run_bodies", "run_part"]

BODIES = 50_000
_MOST_SECONDS = 1.0
_HEADERS = {b"host": b"127.0.0.1", b"content-type": b"application/json"}


def run_part(part: int, *, n_bodies: int = BODIES) -> dict[str, Any]:
    """Send bodies with a seed of its own to a service with an empty folder; verify the folder in the end."""
    return run_bodies(part, n_bodies=n_bodies, is_offered=False)


def run_bodies(part: int, *, n_bodies: int, is_offered: bool) -> dict[str, Any]:
    """Send bodies to a service with an empty folder, whose actions are fixed or offered."""
    rng, statuses, slowest = random.Random(part), Counter[int](), 0.0
    paths = RANK_PATHS if is_offered else PATHS
    with tempfile.TemporaryDirectory() as name:
        project = _project(Path(name), is_offered=is_offered)
        service = Service.start(project)
        application, state = DecisionApplication(service.context), service.context.state
        for _ in range(n_bodies):
            request = Request("POST", rng.choice(paths).encode(), _HEADERS, keep_alive=True)
            request.body = make_body(request.path, rng, is_offered=is_offered)
            before, began = _image(state), time.perf_counter()
            status = application.reply(request).response().status
            slowest = max(slowest, time.perf_counter() - began)
            statuses[status] += 1
            if status >= 500 or (status != 200 and _image(state) != before):
                raise AssertionError(f"{status} for {request.path} with {request.body!r}")
        service.stop()
        verify(project)
    if slowest > _MOST_SECONDS:
        raise AssertionError(f"a body took {slowest:.2f} s")
    counts = {f"answers_{status}": count for status, count in sorted(statuses.items())}
    return {
        "bodies": n_bodies,
        **counts,
        "slowest_ms": round(1000 * slowest),
        "changes_by_refused": 0,
        "answers_5xx": 0,
    }


def _image(state: State) -> tuple[object, ...]:
    """Return what a refused request must leave as it is."""
    statistics = state.statistics
    counts = (statistics.decisions, statistics.total.n_rewards, statistics.learned, statistics.expired)
    actions = state.learner.actions.values() if isinstance(state.learner, Bandit) else ()
    sizes = (len(state.waiting), len(state.remembered), Counter(actions))
    return state.seq, state.learner.version, counts, sizes


def _project(folder: Path, *, is_offered: bool) -> Project:
    return Project(
        actions=None if is_offered else Actions(names=("a", "b", "c"), capacity=30),
        offered={"price": NumericFeature(missing=True), "kind": CategoricalFeature()} if is_offered else None,
        context={
            "age": NumericFeature(edges=(30, 50), missing=True),
            "city": CategoricalFeature(values=("Paris", "Nice"), open=True),
            "member": BooleanFeature(),
        },
        forest={"n_trees": 3},
        warm_up_events=200,
        limits=Limits(waiting_events=500, remembered_events=500),
        storage=Storage(folder=folder, queued_operations=10_000_000),
    )
