"""What the paper's bounds say of regret, seen in worlds whose optimum is known."""

from __future__ import annotations

from bandit_forest.experiments.experiment import Experiment, Made, Setting

__all__ = ["EXPERIMENTS"]


def hidden_tree(n_variables: int, n_actions: int) -> Made:
    """Make the description of a world in which two levels of splits say everything."""
    return Made(name="HiddenTree", parameters={"n_variables": n_variables, "n_actions": n_actions, "depth": 2})


POLICY = Made(name="BanditTree", parameters={"max_depth": 2})

EXPERIMENTS = (
    Experiment(
        id="theory/variables",
        title="A hidden tree: number of variables",
        shows="regret grows with the logarithm of the number of variables (Theorem 3)",
        settings=tuple(
            Setting(label=f"{n_variables} variables", world=hidden_tree(n_variables, 4), policy=POLICY)
            for n_variables in (8, 32, 128, 512, 2048)
        ),
        n_events=100_000,
    ),
    Experiment(
        id="theory/actions",
        title="A hidden tree: number of actions",
        shows="regret grows in proportion to the number of actions (Theorem 3)",
        settings=tuple(
            Setting(label=f"{n_actions} actions", world=hidden_tree(32, n_actions), policy=POLICY)
            for n_actions in (4, 8, 16, 32)
        ),
        n_events=100_000,
    ),
)
