"""Which offer to show to which visitor: raw features, delayed rewards, save and load.

Run it with `python examples/offers.py`.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from bandit_forest import BanditForest
from bandit_forest.encoding import Categorical, ContextEncoder, Numeric

OFFERS = ["holiday", "insurance", "phone"]

encoder = ContextEncoder.from_schema(
    {
        "age": Numeric(thresholds=range(19, 80)),
        "device": Categorical(values=("desktop", "mobile", "tablet")),
        "returning": Categorical(values=(False, True)),
    }
)
forest = BanditForest(
    n_variables=encoder.n_variables,
    n_actions=len(OFFERS),
    thresholds=encoder.thresholds,
    variable_names=encoder.variable_names,
    action_names=OFFERS,
    seed=1,
)


def visitor(rng: random.Random) -> dict[str, object]:
    """Make up a visitor."""
    device = rng.choice(("desktop", "mobile", "tablet"))
    return {"age": rng.randint(18, 80), "device": device, "returning": rng.random() < 0.5}


def clicks(person: dict[str, object], offer: str, rng: random.Random) -> bool:
    """Return whether a visitor clicks: the young on phones, the old on insurance, the others on holidays."""
    age = int(str(person["age"]))
    wanted = "phone" if age < 25 and person["device"] == "mobile" else "insurance" if age >= 60 else "holiday"
    return rng.random() < (0.3 if offer == wanted else 0.05)


rng = random.Random(0)
waiting = []  # decisions whose reward has not come yet
earned = 0
for _ in range(40_000):
    person = visitor(rng)
    context = encoder.encode(person)
    decision = forest.decide(context)
    waiting.append((context, decision, clicks(person, OFFERS[decision.action], rng)))
    if len(waiting) > 100:  # rewards come a hundred visitors late
        context, decision, clicked = waiting.pop(0)
        forest.learn(context, decision.action, float(clicked), propensity=decision.propensity)
        earned += clicked

print(f"{earned / forest.n_events:.3f} clicks a visitor; at random there would be 0.133, at best 0.300")
with tempfile.TemporaryDirectory() as folder:
    forest.save(Path(folder, "offers.bf"))
    again = BanditForest.load(Path(folder, "offers.bf"))
student = encoder.encode({"age": 20, "device": "mobile", "returning": False})
for offer, mean in zip(OFFERS, again.mean_rewards(student), strict=True):
    print(f"{offer:>10}: {mean:.3f}")
