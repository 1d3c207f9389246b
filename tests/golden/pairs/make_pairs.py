"""Writes the golden file of the current version of a saved PairBandit: run once for each version, never again."""

import json
from pathlib import Path

import numpy as np

from bandit_forest import PairBandit
from bandit_forest.bandit.pairs.file import VERSION

FOLDER = Path(__file__).parent
NAME = f"version-{VERSION}"
FOREST = {"n_trees": 3, "n_names": 64, "n_named_actions": 50, "max_nodes": 255}


def continued(bandit: PairBandit, n_events: int, seed: int) -> list[tuple[str, float]]:
    """Let a bandit decide and learn events that depend on the seed alone; return its actions and propensities."""
    rng = np.random.default_rng(seed)
    decided = []
    for _ in range(n_events):
        context = {"age": float(rng.integers(18, 80)), "member": bool(rng.integers(2))}
        actions = [
            {"id": f"a{number}", "price": float(rng.integers(1, 20)), "kind": ("phone", "case", "cable")[number % 3]}
            for number in rng.permutation(50)[:5].tolist()
        ]
        decision = bandit.decide(context, actions=actions)
        chosen = next(action for action in actions if action["id"] == decision.action)
        bandit.learn(decision, reward=8.0 if (context["age"] >= 40) == (chosen["price"] >= 10) else 1.0)
        decided.append((str(decision.action), decision.propensity))
    return decided


if __name__ == "__main__":
    path = FOLDER / f"{NAME}.bandit"
    if not path.exists():
        bandit = PairBandit(reward_range=(0, 10), warm_up_events=50, seed=7, forest=FOREST)
        continued(bandit, 600, seed=0)
        bandit.save(path)
        (FOLDER / f"{NAME}-continued.json").write_text(json.dumps(continued(bandit, 100, seed=1)) + "\n")
