"""Logs of known worlds, small and the same each time."""

from __future__ import annotations

import numpy as np

from bandit_forest.evaluation import Log, Offered


def honest_log(
    n_events: int = 4000, *, n_actions: int = 3, n_variables: int = 4, seed: int = 0, greed: float = 1.5
) -> tuple[Log, np.ndarray]:
    """Return a log of a softmax policy, and the true mean reward of every action, one row per event."""
    rng = np.random.default_rng(seed)
    contexts = rng.integers(0, 2, (n_events, n_variables), dtype=np.uint8)
    preference = rng.normal(size=(n_variables, n_actions))
    scores = np.exp(greed * (contexts @ preference))
    probabilities = 0.9 * scores / scores.sum(axis=1, keepdims=True) + 0.1 / n_actions
    means = 1 / (1 + np.exp(-(contexts - 0.5) @ rng.normal(size=(n_variables, n_actions))))
    actions = (probabilities.cumsum(axis=1) < rng.random(n_events)[:, None]).sum(axis=1).clip(max=n_actions - 1)
    rows = np.arange(n_events)
    rewards = (rng.random(n_events) < means[rows, actions]).astype(float)
    log = Log(
        actions=actions,
        rewards=rewards,
        propensities=probabilities[rows, actions],
        contexts=contexts,
        probabilities=probabilities,
        versions=rows // 100,
        times=1.7e9 + rows,
        action_names=n_actions,
    )
    return log, means


def offer_log(n_events: int, seed: int = 1) -> Log:
    """Return a log in which older visitors take what is dear, and younger ones what is cheap."""
    rng = np.random.default_rng(seed)
    offers, actions, rewards, probabilities = [], [], [], np.zeros((n_events, 4))
    for event in range(n_events):
        age, n_offered = float(rng.integers(18, 80)), int(rng.integers(2, 5))
        context = {"age": age, "city": ["New York", "Lannion"][event % 2], "member": event % 3 == 0}
        offered = [
            {"id": f"a{n}", "price": float(rng.integers(0, 20)), "kind": ["phone", "case"][n % 2], "_new": n % 5 == 0}
            for n in rng.permutation(40)[:n_offered].tolist()
        ]
        probabilities[event, :n_offered] = 0.5 / n_offered
        probabilities[event, 0] += 0.5
        place = int(rng.choice(4, p=probabilities[event]))
        offers.append(Offered(context, offered))
        actions.append(place)
        rewards.append(float(rng.random() < (0.8 if (age >= 40) == (offered[place]["price"] >= 10) else 0.2)))
    return Log(
        actions=actions,
        rewards=rewards,
        propensities=probabilities[np.arange(n_events), actions],
        probabilities=probabilities,
        offers=offers,
        times=1.7e9 + np.arange(n_events),
        versions=np.arange(n_events) // 100,
        columns={"event_id": np.array([f"event {event}" for event in range(n_events)])},
        action_names=4,
    )


def changed(log: Log, **columns: object) -> Log:
    """Return a log with other columns."""
    given = {name: getattr(log, name) for name in ("actions", "rewards", "propensities", "contexts", "action_names")}
    return Log(**(given | columns))
