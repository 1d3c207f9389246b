"""LightGBM refitted whenever the log has doubled, with bagged Thompson sampling, on the raw features."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from contest.game import Contestant, Game
from contest.stream import Stream

__all__ = ["LIGHT_GBM", "play_light_gbm"]

FIRST_FIT = 250
"""Events after which it is fitted first; before, actions are drawn uniformly."""
N_BAGS = 5
N_ROUNDS = 100
PARAMETERS = {
    "objective": "regression",
    "min_data_in_leaf": 5,
    "min_data_per_group": 5,
    "cat_smooth": 1,
    "num_threads": 1,
    "verbose": -1,
}
"""Its defaults, but for smaller leaves and groups of categories: its logs are short (chosen on the choosing sets)."""

Floats = NDArray[np.float64]
Scores = Callable[[Floats], Floats]
"""From features, one row per event, to the predicted reward of each action."""


class Log(NamedTuple):
    """Events to fit on."""

    features: Floats
    categorical: list[int]
    """Places of the features that are categories."""
    actions: NDArray[np.intp]
    rewards: Floats
    n_actions: int

    def take(self, rows: NDArray[np.intp]) -> Log:
        """Return some of the events."""
        return self._replace(features=self.features[rows], actions=self.actions[rows], rewards=self.rewards[rows])


def play_light_gbm(stream: Stream, *, fit: Callable[[Log], Scores]) -> Game:
    """Play LightGBM: for each event a bag is drawn, and its best action taken."""
    features, categorical = _features(stream.columns)
    generator = np.random.default_rng(stream.shuffle)
    start_time = time.perf_counter()
    actions = np.empty(stream.n_events, dtype=np.intp)
    bags: list[Scores] = []
    start, end = 0, min(FIRST_FIT, stream.n_events)
    while start < stream.n_events:
        actions[start:end] = _decide(bags, features[start:end], stream.n_actions, generator)
        start, end = end, min(2 * end, stream.n_events)
        if start < stream.n_events:
            rewards = stream.rewards[np.arange(start), actions[:start]]
            log = Log(features[:start], categorical, actions[:start], rewards, stream.n_actions)
            bags = [fit(log.take(generator.integers(0, start, start))) for _ in range(N_BAGS)]
    return Game(actions, time.perf_counter() - start_time)


def fit_together(log: Log) -> Scores:
    """Return one model for all actions, in which the action is one more category."""
    features = np.column_stack([log.features, log.actions])
    model = _train(features, log.rewards, [*log.categorical, features.shape[1] - 1])

    def scores(features: Floats) -> Floats:
        every = np.tile(np.arange(log.n_actions), len(features))
        rows = np.column_stack([np.repeat(features, log.n_actions, axis=0), every])
        return np.asarray(model.predict(rows)).reshape(len(features), log.n_actions)

    return scores


def fit_apart(log: Log) -> Scores:
    """Return a model for each action; one that earned the same in all its events is predicted by a shrunken mean."""
    columns = [_fit_action(log.take(np.flatnonzero(log.actions == action))) for action in range(log.n_actions)]
    return lambda features: np.column_stack([column(features) for column in columns])


def _fit_action(log: Log) -> Scores:
    if len(log.rewards) == 0 or np.ptp(log.rewards) == 0:
        mean = (log.rewards.sum() + 0.5) / (len(log.rewards) + 1)
        return lambda features: np.full(len(features), mean)
    model = _train(log.features, log.rewards, log.categorical)
    return lambda features: np.asarray(model.predict(features))


def _train(features: Floats, rewards: Floats, categorical: list[int]) -> Any:
    import lightgbm

    data = lightgbm.Dataset(features, rewards, categorical_feature=categorical, params=PARAMETERS)
    return lightgbm.train(PARAMETERS, data, N_ROUNDS)


def _decide(bags: list[Scores], features: Floats, n_actions: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return an action for each event; equal predictions, and those of no bag, are told apart at random."""
    predicted = 1e-9 * generator.random((len(features), n_actions))
    drawn = generator.integers(0, N_BAGS, len(features))
    for number, scores in enumerate(bags):
        events = np.flatnonzero(drawn == number)
        if events.size:
            predicted[events] += scores(features[events])
    best: NDArray[np.intp] = predicted.argmax(axis=1)
    return best


def _features(columns: dict[str, NDArray[Any]]) -> tuple[Floats, list[int]]:
    """Return the features as numbers, and the places of those that are categories."""
    categorical = [place for place, column in enumerate(columns.values()) if column.dtype == object]
    return np.column_stack([_numbers(column) for column in columns.values()]), categorical


def _numbers(column: NDArray[Any]) -> Floats:
    if column.dtype != object:
        return column.astype(np.float64)
    missing = np.array([value is None for value in column])
    codes = np.unique(np.where(missing, "", column).astype(str), return_inverse=True)[1].astype(np.float64)
    return np.where(missing, np.nan, codes)


LIGHT_GBM = tuple(
    Contestant("lightgbm", setting, partial(play_light_gbm, fit=fit))
    for setting, fit in (("a model per action", fit_apart), ("one model", fit_together))
)
