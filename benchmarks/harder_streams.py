"""What LinUCB and its rivals earn on other readings of the paper's streams, and other readings of LinUCB on ours.

Run it with `python benchmarks/harder_streams.py covtype --data FOLDER`, and the same with adult, widths, linucb and
forests: the reward in the last 100,000 events, in percent. The column of the comparator is empty unless
`bandit-forest run` has left the forest in the cache folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from bandit_forest import BanditTree
from bandit_forest.baselines import LinUCB, NeuralBandit
from bandit_forest.experiments.comparator.fitted import fitted_file
from bandit_forest.experiments.comparator.models import RandomForest
from bandit_forest.experiments.comparator.routing import FlatForest
from bandit_forest.optimal import OptimalTree
from bandit_forest.policy import Policy
from bandit_forest.worlds import Classification
from bandit_forest.worlds.datasets import Dataset, data_folder, load

Bits = NDArray[np.uint8]
Floats = NDArray[np.float64]

N_BINNED, N_BINS, NOISE = 10, 5, 0.05  # Cover Type: its first variables are the bins of ten numbers
N_FITTED = 200_000  # events that full information is fitted to
BATCH = 100  # events between two solutions of the shared matrix
DELAY = 20_000
FOREST_SHARES = ("sqrt", 0.8)
LAST = 100_000
COLUMNS = ("LinUCB", "one matrix", "NeuralBandit", "Bandit Tree", "greedy tree", "least squares", "comparator")
PAPER = {
    "covtype": ("60.0", "", "68.0", "64.2", "", "", "at most 69.0"),
    "adult": ("25.7", "", "29.6", "27.9", "", "", "at most 40.5"),
}


class Stream:
    """The events of one seed, and what is earned on the last of them."""

    def __init__(self, world: Classification, n_events: int, seed: int) -> None:
        self.n_variables, self.n_actions = world.n_variables, world.n_actions
        (batch,) = world.batches(n_events, seed=seed, batch_size=n_events)
        self.contexts, self.rewards = batch.contexts, batch.rewards
        self.end = n_events - min(LAST, n_events // 10)

    def played(self, policy: Policy) -> float:
        """Let a policy learn event by event."""
        return self.average_and_end(policy)[1]

    def average_and_end(self, policy: Policy) -> tuple[float, float]:
        """Let a policy learn event by event, and tell what it earns on all events too."""
        rewards = policy.play(self.contexts, self.rewards).rewards
        return float(rewards.mean()), float(rewards[self.end :].mean())

    def predicted(self, predict: Callable[[Bits], NDArray[np.int64]]) -> float:
        """Ask what has been fitted before."""
        actions = predict(self.contexts[self.end :])
        return float(self.rewards[self.end :][np.arange(len(actions)), actions].mean())

    def decided(self, decide: Callable[[Bits], NDArray[np.int64]], learn: Callable[..., object], size: int) -> float:
        """Decide some events at a time, and learn from all of them afterwards."""
        earned = []
        for start in range(0, len(self.contexts), size):
            contexts, rewards = self.contexts[start : start + size], self.rewards[start : start + size]
            actions = decide(contexts)
            earned.append(rewards[np.arange(len(actions)), actions])
            learn(contexts, actions, earned[-1])
        return float(np.concatenate(earned)[self.end :].mean())

    @property
    def fitted(self) -> tuple[Bits, Floats]:
        """The contexts and rewards that full information is fitted to, none of which is among the last."""
        n_fitted = min(N_FITTED, self.end)
        return self.contexts[:n_fitted], self.rewards[:n_fitted]


class SharedLinUCB:
    """LinUCB with one Gram matrix for all actions: its bonus is the same for all, so it never explores."""

    def __init__(self, *, n_variables: int, n_actions: int) -> None:
        self._gram = np.eye(n_variables + 1)
        self._reward_sums = np.zeros((n_variables + 1, n_actions))

    def decide(self, contexts: Bits) -> NDArray[np.int64]:
        """Return the action of highest prediction."""
        actions: NDArray[np.int64] = (_inputs(contexts) @ np.linalg.solve(self._gram, self._reward_sums)).argmax(axis=1)
        return actions

    def learn(self, contexts: Bits, actions: NDArray[np.int64], rewards: Floats) -> None:
        """Add events."""
        inputs = _inputs(contexts)
        self._gram += inputs.T @ inputs
        self._reward_sums += inputs.T @ (np.eye(self._reward_sums.shape[1])[actions] * rewards[:, None])


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=["covtype", "adult", "widths", "linucb", "forests"])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", help="folder of covtype.data.gz, adult.data and adult.test")
    parser.add_argument(
        "--widths", type=float, nargs="+", default=[0.2, 10.0, 20.0, 28.0, 50.0], help="widths of LinUCB"
    )
    parser.add_argument("--trees", type=int, default=20, help="trees of each of the forests")
    arguments = parser.parse_args()
    tables = {"covtype": _streams, "adult": _streams, "widths": _widths, "linucb": _variants, "forests": _forests}
    Console(width=120).print(tables[arguments.table](arguments))


def _streams(arguments: argparse.Namespace) -> Table:
    """Play the readings of the stream of a data set."""
    dataset = load(arguments.table, arguments.data)
    forest = _comparator(dataset)
    table = Table("stream", *COLUMNS, title=dataset.name)
    table.add_row("in the paper, 10 M events", *PAPER[dataset.name])
    readings = _adults(dataset) if dataset.name == "adult" else _cover_types(dataset, arguments.data)
    for label, world, has_comparator in readings:
        stream = Stream(world, arguments.events, arguments.seed)
        comparator = _percent(stream.predicted(forest.predict)) if forest and has_comparator else ""
        table.add_row(label, *map(_percent, _rates(stream, arguments.seed)), comparator)
    return table


def _widths(arguments: argparse.Namespace) -> Table:
    """Play LinUCB with more and more optimism."""
    names = ("covtype", "adult")
    table = Table("width", *(f"{name}, {part}" for name in names for part in ("average", "end")), title="LinUCB")
    streams = [Stream(load(name, arguments.data).world(), arguments.events, arguments.seed) for name in names]
    for width in arguments.widths:
        rates = [rate for stream in streams for rate in stream.average_and_end(_lin_ucb(stream, width=width))]
        table.add_row(f"{width:g}", *map(_percent, rates))
    return table


def _variants(arguments: argparse.Namespace) -> Table:
    """Play the readings of LinUCB, and what a linear model reaches with full information."""
    stream = Stream(load("covtype", arguments.data).world(), arguments.events, arguments.seed)
    table = Table("policy", "end", title="Linear models on Cover Type")
    for label, rate in _linear_rates(stream):
        table.add_row(label, _percent(rate))
    return table


def _forests(arguments: argparse.Namespace) -> Table:
    """Fit comparators that choose each split from some of the variables or from most of them."""
    table = Table("variables at each split", "covtype", "adult", title=f"Reference forests of {arguments.trees} trees")
    rates = []
    for name in ("covtype", "adult"):
        dataset = load(name, arguments.data)
        stream = Stream(dataset.world(), arguments.events, arguments.seed)
        rates.append([_forest_rate(dataset, stream, share, arguments.trees) for share in FOREST_SHARES])
    for share, *of_share in zip(FOREST_SHARES, *rates, strict=True):
        table.add_row(str(share), *map(_percent, of_share))
    return table


def _forest_rate(dataset: Dataset, stream: Stream, share: str | float, n_trees: int) -> float:
    forest = RandomForestClassifier(n_estimators=n_trees, max_features=share, random_state=0)
    forest.fit(dataset.contexts.astype(np.float32), dataset.labels)
    actions = forest.classes_ >= 0  # it knows the rows that reward no action, but must play one
    return stream.predicted(
        lambda rows: forest.classes_[actions][forest.predict_proba(rows)[:, actions].argmax(axis=1)]
    )


def _cover_types(dataset: Dataset, data: str | None) -> Iterator[tuple[str, Classification, bool]]:
    """Return each reading of the stream, and whether the comparator knows its variables."""
    for noise in (0.0, NOISE, 0.075, 0.1, 0.15, 0.2):
        yield f"flips {noise:g}", dataset.world(noise=noise), True
    contexts = dataset.contexts
    flips = np.random.default_rng(0).random(contexts.shape, dtype=np.float32) < NOISE
    yield "flips 0.05, once a row", _world(dataset, contexts ^ flips, noise=0.0), True
    bins = contexts[:, : N_BINNED * N_BINS].reshape(-1, N_BINNED, N_BINS)
    yield "thermometer", _world(dataset, _with_bins(contexts, np.bitwise_or.accumulate(bins, axis=2))), False
    yield "bins of equal width", _world(dataset, _with_bins(contexts, _equal_width(data))), False


def _adults(dataset: Dataset) -> Iterator[tuple[str, Classification, bool]]:
    for noise in (NOISE, 0.075, 0.1):
        yield f"flips {noise:g}", dataset.world(noise=noise), True


def _world(dataset: Dataset, contexts: Bits, noise: float = NOISE) -> Classification:
    return Classification(contexts=contexts, labels=dataset.labels, n_actions=dataset.n_actions, noise=noise)


def _with_bins(contexts: Bits, bins: Bits) -> Bits:
    return np.hstack([bins.reshape(len(contexts), -1), contexts[:, N_BINNED * N_BINS :]])


def _equal_width(data: str | None) -> Bits:
    path = next(data_folder(data).glob("covtype.data*"))
    numbers = np.loadtxt(path, delimiter=",", usecols=range(N_BINNED), dtype=np.int16).astype(np.float64)
    scaled = (numbers - numbers.min(axis=0)) / np.ptp(numbers, axis=0)
    bins: Bits = np.eye(N_BINS, dtype=np.uint8)[(scaled * N_BINS).astype(np.intp).clip(max=N_BINS - 1)]
    return bins


def _comparator(dataset: Dataset) -> FlatForest | None:
    path = fitted_file(RandomForest(), dataset)
    return FlatForest.load(path) if path.exists() else None


def _rates(stream: Stream, seed: int) -> Iterator[float]:
    n_variables, n_actions = stream.n_variables, stream.n_actions
    yield stream.played(_lin_ucb(stream))
    yield _shared_rate(stream)
    yield stream.played(NeuralBandit(n_variables=n_variables, n_actions=n_actions, seed=seed))
    yield stream.played(BanditTree(n_variables=n_variables, n_actions=n_actions, max_depth=8, seed=seed))
    contexts, rewards = stream.fitted
    yield stream.predicted(OptimalTree(contexts, rewards, max_depth=8).predict)
    yield stream.predicted(_least_squares(contexts, rewards))


def _linear_rates(stream: Stream) -> Iterator[tuple[str, float]]:
    for ridge in (1.0, 100.0, 10_000.0):
        yield f"ridge {ridge:g}", stream.played(_lin_ucb(stream, ridge=ridge))
    late = _lin_ucb(stream)
    yield (
        f"rewards {DELAY:,} at a time",
        stream.decided(
            lambda rows: late.decide_many(rows).actions,
            lambda *events: late.learn_many(*events, propensities=np.ones(len(events[0]))),
            DELAY,
        ),
    )
    yield "one matrix for all actions", _shared_rate(stream)
    contexts, rewards = stream.fitted
    yield "full information: least squares", stream.predicted(_least_squares(contexts, rewards))
    logistic = OneVsRestClassifier(LogisticRegression(tol=1e-3, max_iter=200))
    logistic.fit(contexts.astype(np.float64), rewards.argmax(axis=1))
    yield "full information: logistic, one against the rest", stream.predicted(logistic.predict)


def _lin_ucb(stream: Stream, width: float = 0.2, ridge: float = 1.0) -> LinUCB:
    return LinUCB(n_variables=stream.n_variables, n_actions=stream.n_actions, width=width, ridge=ridge)


def _shared_rate(stream: Stream) -> float:
    shared = SharedLinUCB(n_variables=stream.n_variables, n_actions=stream.n_actions)
    return stream.decided(shared.decide, shared.learn, BATCH)


def _least_squares(contexts: Bits, rewards: Floats) -> Callable[[Bits], NDArray[np.int64]]:
    inputs = _inputs(contexts)
    weights = np.linalg.solve(inputs.T @ inputs + np.eye(inputs.shape[1]), inputs.T @ rewards)
    return lambda rows: (_inputs(rows) @ weights).argmax(axis=1)


def _inputs(contexts: Bits) -> Floats:
    """Return the variables and a constant."""
    return np.column_stack([contexts, np.ones(len(contexts))])


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f}"


if __name__ == "__main__":
    main()
