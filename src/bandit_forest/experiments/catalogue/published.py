"""The numbers that the paper prints in its summary of results, by data set and by name of the setting."""

from __future__ import annotations

from bandit_forest.experiments.catalogue.experiment import Published

__all__ = ["PUBLISHED"]

PUBLISHED = {
    "covtype": {
        "banditron": Published(regret=1.99e6, interval=1e5, rate=0.491, minutes=10),
        "lin-ucb": Published(regret=1.23e6, interval=1e3, rate=0.60, minutes=360),
        "neural-bandit": Published(regret=0.567e6, interval=2e4, rate=0.68, minutes=150),
        "bandit-tree": Published(regret=0.843e6, interval=2e5, rate=0.642, minutes=5),
        "bandit-forest": Published(regret=0.742e6, interval=5e4, rate=0.658, minutes=500),
    },
    "adult": {
        "banditron": Published(regret=1.94e6, interval=3e4, rate=0.211, minutes=20),
        "lin-ucb": Published(regret=1.51e6, interval=4e4, rate=0.257, minutes=400),
        "neural-bandit": Published(regret=1.2e6, interval=1e5, rate=0.296, minutes=140),
        "bandit-tree": Published(regret=1.33e6, interval=1e5, rate=0.279, minutes=4),
        "bandit-forest": Published(regret=1.12e6, interval=7e4, rate=0.31, minutes=400),
    },
    "census1990": {
        "banditron": Published(regret=2.07e6, interval=2e5, rate=0.27, minutes=26),
        "lin-ucb": Published(regret=0.77e6, interval=5e4, rate=0.403, minutes=1080),
        "neural-bandit": Published(regret=0.838e6, interval=1e5, rate=0.417, minutes=300),
        "bandit-tree": Published(regret=0.78e6, interval=2e5, rate=0.41, minutes=10),
        "bandit-forest": Published(regret=0.686e6, interval=5e4, rate=0.432, minutes=1000),
    },
}
