"""What the paper's bounds say of regret, seen in worlds whose optimum is known."""

from __future__ import annotations

from bandit_forest.experiments.catalogue.experiment import Experiment, Made, Setting
from bandit_forest.rules import Elimination, RoundRobin

__all__ = ["EXPERIMENTS"]

# Algorithm 4 as it is analysed, to whom a world of one hidden variable has nothing to hide.
STUMP = Made(name="BanditTree", parameters={"max_depth": 1, "growth": Elimination(), "exploration": RoundRobin()})


def in_stump_world(size: int, unit: str, **sizes: int) -> Setting:
    """Play a world in which one variable of many says which of the actions is the best."""
    return Setting(
        name=f"{size}-{unit}",
        label=f"Decision stump, {size} {unit}",
        family="Decision stump",
        world=Made(name="Stump", parameters={"variable_gap": 0.4, "action_gap": 0.4, **sizes}),
        policy=STUMP,
    )


EXPERIMENTS = (
    Experiment(
        id="theory/variables",
        title="One hidden variable: number of variables",
        shows="regret grows with the logarithm of the number of variables (Theorem 1)",
        settings=tuple(
            in_stump_world(n_variables, "variables", n_variables=n_variables, n_actions=4)
            for n_variables in (8, 32, 128, 512, 2048)
        ),
        chart="levels",
        n_events=50_000,
        n_trials=20,
    ),
    Experiment(
        id="theory/actions",
        title="One hidden variable: number of actions",
        shows="regret grows in proportion to the number of actions (Theorem 1)",
        settings=tuple(
            in_stump_world(n_actions, "actions", n_variables=32, n_actions=n_actions) for n_actions in (2, 4, 8, 16)
        ),
        chart="levels",
        n_events=50_000,
        n_trials=20,
    ),
)
