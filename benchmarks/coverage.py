"""How often intervals cover, and how often wrong propensities are found, on logs that a forest made while it learned.

    OPENBLAS_NUM_THREADS=1 python benchmarks/coverage.py --runs 500

Each run is one log. Its row is written as it ends, so that the same command goes on where it was stopped. Matrices are
small: threads of BLAS would only wait for one another.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from bandit_forest import BanditForest, InvalidArgumentError
from bandit_forest.evaluation import Level, Log, Target, always, as_it_stands, column, evaluate, uniform
from bandit_forest.evaluation.statistics.evidence import weights_of
from bandit_forest.evaluation.statistics.sequences import boundary, running_sums
from bandit_forest.worlds import HiddenTree, Linear

N_VARIABLES, N_ACTIONS, N_TREES = 20, 4, 20
N_LATER, N_TRUTH = 30_000, 200_000
N_STRETCHES = 50
N_FLAGGED = 200
CONFIDENCE = 0.95

WORLDS = (
    HiddenTree(n_variables=N_VARIABLES, n_actions=N_ACTIONS, depth=3, noise=0.1),
    Linear(n_variables=N_VARIABLES, n_actions=N_ACTIONS, noise=0.1),
)

WRONG: dict[str, Callable[[Log, np.random.Generator], NDArray[np.float64]]] = {
    "honest": lambda log, _: log.propensities,
    "times 1.3": lambda log, _: 1.3 * log.propensities,
    "times 1.3, cut off at 1": lambda log, _: np.minimum(1.3 * log.propensities, 1.0),
    "shuffled": lambda log, rng: rng.permutation(log.propensities),
    "one over the number of actions": lambda log, _: np.full(len(log), 1 / N_ACTIONS),
}


class Setting:
    """A world, the policies that are evaluated in it, and what they are worth."""

    def __init__(self, world: HiddenTree | Linear) -> None:
        self.world = world
        later = BanditForest(n_variables=N_VARIABLES, n_actions=N_ACTIONS, n_trees=N_TREES, seed=10**6)
        for batch in world.batches(N_LATER, seed=10**6):
            later.play(batch.contexts, batch.rewards)
        self.targets: list[Target] = [
            uniform(),
            column("best"),
            always(0, name="one action"),
            as_it_stands(later, name="later forest"),
        ]
        totals = np.zeros(len(self.targets))
        for batch in world.batches(N_TRUTH, seed=10**6 + 1):
            log = log_of(batch.contexts, batch.scored_rewards, np.zeros(len(batch.contexts), np.int64))
            totals += [(target.probabilities(log) * batch.scored_rewards).sum() for target in self.targets]
        self.truths = totals / N_TRUTH


def log_of(contexts: Any, expected: Any, actions: Any, rewards: Any = None, propensities: Any = None) -> Log:
    """Return a log with the column of the best action."""
    ones = np.ones(len(contexts))
    return Log(
        actions=actions,
        rewards=ones if rewards is None else rewards,
        propensities=ones if propensities is None else propensities,
        contexts=contexts,
        columns={"best": expected.argmax(axis=1)},
        action_names=N_ACTIONS,
    )


def played_log(world: HiddenTree | Linear, n_events: int, seed: int) -> Log:
    """Return the log of a forest that learns as it decides."""
    forest = BanditForest(n_variables=N_VARIABLES, n_actions=N_ACTIONS, n_trees=N_TREES, seed=seed)
    (batch,) = world.batches(n_events, seed=seed, batch_size=n_events)
    played = forest.play(batch.contexts, batch.rewards)
    return log_of(batch.contexts, batch.scored_rewards, played.actions, played.rewards, played.propensities)


def run(setting: Setting, n_events: int, number: int, *, flags: bool) -> dict[str, Any]:
    """Return the row of one run, with those of wrong propensities when `flags`."""
    log = played_log(setting.world, n_events, number)
    evaluation = evaluate(log, setting.targets, confidence=CONFIDENCE)
    row: dict[str, Any] = {"run": number, "n_events": n_events, "world": setting.world.name, "targets": {}}
    for target, truth in zip(setting.targets, setting.truths.tolist(), strict=True):
        told = row["targets"][target.name] = {
            "truth": truth,
            "effective": evaluation.effective_sample_size(target.name),
        }
        for estimator in ("ips", "snips", "dr"):
            estimate = evaluation.estimate(target.name, estimator)
            told[estimator] = [estimate.low, estimate.high]
        told["sequence"] = always_covers(log, target, truth)
    if flags:
        row["flagged"] = {name: is_flagged(log, wrong, number) for name, wrong in WRONG.items()}
    return row


def always_covers(log: Log, target: Target, truth: float) -> bool:
    """Return whether the sequence covers the truth after every event."""
    weights = weights_of(target.probabilities(log), log.actions, log.propensities)
    return not (is_refuted(weights * log.rewards, truth) or is_refuted(weights * (1 - log.rewards), 1 - truth))


def is_refuted(values: NDArray[np.float64], mean: float) -> bool:
    """Return whether the lower bound exceeds the mean after any event.

    The boundary grows with the sum of squared errors. So a stretch of events needs a look at each of them only if its
    largest deviation exceeds the boundary at its beginning.
    """
    alpha = (1 - CONFIDENCE) / 2
    totals, errors = running_sums(values)
    deviations, starts = totals - mean * np.arange(1, len(values) + 1), np.append(0.0, errors)
    return any(
        deviations[event] >= boundary(errors[event], alpha)
        for rows in np.array_split(np.arange(len(values)), N_STRETCHES)
        if deviations[rows].max() >= boundary(starts[rows[0]], alpha)
        for event in rows
    )


def is_flagged(log: Log, wrong: Callable[[Log, np.random.Generator], NDArray[np.float64]], seed: int) -> bool:
    """Return whether a log with other propensities is refused, or has a finding that is not sound."""
    try:
        changed = Log(
            actions=log.actions,
            rewards=log.rewards,
            propensities=wrong(log, np.random.default_rng(seed)),
            contexts=log.contexts,
            action_names=N_ACTIONS,
        )
    except InvalidArgumentError:
        return True
    return any(finding.level is not Level.SOUND for finding in evaluate(changed, [uniform()]).findings)


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """Return the tables of what was found, in Markdown."""
    lines = [
        "| world | policy | effective events | IPS | SNIPS | doubly robust | sequence | width, robust / SNIPS |",
        "|---|---|---|---|---|---|---|---|",
    ]
    ratios = []
    for world in dict.fromkeys(row["world"] for row in rows):
        for target in rows[0]["targets"]:
            told = [row["targets"][target] for row in rows if row["world"] == world]
            shares = [
                np.mean([one[name][0] <= one["truth"] <= one[name][1] for one in told])
                for name in ("ips", "snips", "dr")
            ]
            shares.append(np.mean([one["sequence"] for one in told]))
            widths = {name: np.mean([np.ptp(one[name]) for one in told]) for name in ("snips", "dr")}
            ratios.append(widths["dr"] / widths["snips"])
            effective = np.mean([one["effective"] for one in told])
            cells = [world, target, f"{effective:,.0f}", *(f"{share:.1%}" for share in shares), f"{ratios[-1]:.3f}"]
            lines.append(f"| {' | '.join(cells)} |")
    lines.append(f"\n{len(rows)} logs. Width of doubly robust / SNIPS on average: {np.mean(ratios):.3f}.\n")
    flagged = [row["flagged"] for row in rows if "flagged" in row]
    lines += ["| propensities | logs | flagged |", "|---|---|---|"]
    for name in WRONG if flagged else ():
        lines.append(f"| {name} | {len(flagged)} | {np.mean([one[name] for one in flagged]):.1%} |")
    return lines


def main() -> None:
    """Run what is missing, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first run, which is its seed")
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=Path("out/coverage.jsonl"))
    options = parser.parse_args()
    console = Console(highlight=False)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    wanted = range(options.first, options.first + options.runs)
    rows = [row for row in rows if row["n_events"] == options.events and row["run"] in wanted]
    done = {row["run"] for row in rows}
    missing = [number for number in wanted if number not in done]
    settings = [Setting(world) for world in WORLDS] if missing else []
    with options.out.open("a") as file:
        for number in track(missing, "runs", console=console, disable=not console.is_terminal):
            flags = number - options.first < N_FLAGGED
            row = run(settings[number % len(settings)], options.events, number, flags=flags)
            file.write(json.dumps(row) + "\n")
            file.flush()
            rows.append(row)
    print("\n".join(summary(rows)))


if __name__ == "__main__":
    main()
