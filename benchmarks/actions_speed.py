"""How long a decision among offered actions takes, beside Vowpal Wabbit's Python interface; and memory by ids seen.

50 actions of 60 features are offered in contexts of 30. Run `python benchmarks/actions_speed.py`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from bandit_forest import PairBandit, PairForest
from bandit_forest.worlds.pairs import Offer, TreePairs
from offered.policies import Forest, VowpalWabbit, examples_of

N_CONTEXT, N_ACTION, N_OFFERED = 30, 60, 50
SETTING = "--squarecb --gamma_scale 1000 -l 2 -q ca"


def main() -> None:
    """Print medians and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lessons", type=int, default=20_000, help="learned before anything is measured")
    parser.add_argument("--decisions", type=int, default=300)
    parser.add_argument("--ids", type=int, default=1_000_000)
    arguments = parser.parse_args()
    world = TreePairs(n_context_features=N_CONTEXT, n_action_features=N_ACTION, n_offered=N_OFFERED)
    offers = list(world.events(arguments.decisions, seed=1))
    forest, bandit, rival = Forest(world), _bandit(), VowpalWabbit(SETTING)
    for offer in world.events(arguments.lessons, seed=0):
        action = forest.decide(offer)
        forest.learn(offer, action)
        bandit.learn(_context(offer), _actions(offer)[action], float(offer.rewards[action]), propensity=1.0)
    for offer in world.events(200, seed=0):
        rival.learn(offer, rival.decide(offer))
    arrays = [
        (forest.codes(offer.context), forest.codes(offer.actions), offer.ids.astype(np.uint64)) for offer in offers
    ]
    dicts = [(_context(offer), _actions(offer)) for offer in offers]
    texts = [examples_of(offer, named=False) for offer in offers]
    times = {
        "PairForest.decide, from arrays": _median(lambda n: _decide_codes(forest.forest, arrays[n]), len(offers)),
        "PairBandit.decide, from dicts": _median(
            lambda n: bandit.decide(dicts[n][0], actions=dicts[n][1]), len(offers)
        ),
        "Vowpal Wabbit's predict, from features": _median(lambda n: rival.predict(offers[n]), len(offers)),
        "Vowpal Wabbit's predict, from ready texts": _median(lambda n: rival.predict_texts(texts[n]), len(offers)),
    }
    for name, microseconds in times.items():
        print(f"{name}: {microseconds:.0f} µs")
    _show_memory(arguments.ids)


def _decide_codes(forest: PairForest, offer: tuple[object, object, object]) -> None:
    context, actions, names = offer
    forest.decide(context, actions, names=names)  # type: ignore[arg-type]


def _median(call: Callable[[int], object], n_calls: int) -> float:
    taken = []
    for number in range(n_calls):
        start = time.perf_counter()
        call(number)
        taken.append(time.perf_counter() - start)
    return 1e6 * float(np.median(taken))


def _bandit() -> PairBandit:
    return PairBandit(
        context_features={f"c{number}": "numeric" for number in range(N_CONTEXT)},
        action_features={f"a{number}": "numeric" for number in range(N_ACTION)},
    )


def _context(offer: Offer) -> dict[str, float]:
    return {f"c{number}": value for number, value in enumerate(offer.context.tolist())}


def _actions(offer: Offer) -> list[dict[str, object]]:
    return [
        {"id": number} | {f"a{feature}": value for feature, value in enumerate(features)}
        for number, features in zip(offer.ids.tolist(), offer.actions.tolist(), strict=True)
    ]


def _show_memory(n_ids: int) -> None:
    """Print the memory of a forest after events with as many different ids."""
    forest = PairForest(n_context_variables=N_CONTEXT, n_action_variables=N_ACTION)
    rng = np.random.default_rng(0)
    bound = forest.n_bytes
    for first in range(0, n_ids, 10_000):
        names = np.arange(first, first + 10_000, dtype=np.uint64)
        contexts = rng.integers(0, 2, (10_000, N_CONTEXT), dtype=np.uint8)
        actions = rng.integers(0, 2, (10_000, N_ACTION), dtype=np.uint8)
        forest.learn_many(contexts, actions, rng.random(10_000), propensities=np.ones(10_000), names=names)
    print(f"{n_ids:,} ids: {forest.n_bytes / 1e6:.0f} MB; {bound / 1e6:.1f} MB before the first event")


if __name__ == "__main__":
    main()
