"""The default forest on the data sets of the paper, its settings untouched."""

from __future__ import annotations

from bandit_forest.experiments.catalogue.experiment import Experiment, Made, Setting

__all__ = ["EXPERIMENTS"]

TITLES = {"covtype": "Cover Type", "adult": "Adult", "census1990": "Census 1990"}

EXPERIMENTS = tuple(
    Experiment(
        id=f"default/{name}",
        title=f"{title}: the default forest",
        shows=f"the default forest on the streams of paper/{name}",
        settings=(
            Setting(
                name="bandit-forest",
                label="Bandit Forest, default",
                world=Made(name=name),
                policy=Made(name="BanditForest"),
            ),
        ),
        n_trials=3,
    )
    for name, title in TITLES.items()
)
