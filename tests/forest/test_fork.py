"""A fork while other threads are inside batch calls: the child has whole forests, and can use them."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

from bandit_forest import BanditForest
from bandit_forest.baselines import LinUCB

pytestmark = [pytest.mark.core, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with fork")]

CONTEXTS = np.random.default_rng(0).integers(0, 2, (20_000, 30), dtype=np.uint8)
ACTIONS = np.random.default_rng(1).integers(0, 3, 20_000)
REWARDS = (CONTEXTS[:, 0] == ACTIONS).astype(float)


def learn(policy, n_events):
    propensities = np.full(n_events, 1 / 3)
    policy.learn_many(CONTEXTS[:n_events], ACTIONS[:n_events], REWARDS[:n_events], propensities=propensities)


def ends_well(child: int) -> bool:
    """Wait for a child at most ten seconds; return whether it ended as it should."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@pytest.mark.skipif(sys.version_info >= (3, 12) and sys.flags.dev_mode, reason="warns of every fork with threads")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("kind", [BanditForest, LinUCB])
def test_a_child_that_was_forked_in_the_midst_of_batches_can_go_on(kind, n_threads):
    if kind is LinUCB and n_threads > 1:
        pytest.skip("one thread")
    more = {"n_trees": 10, "n_threads": n_threads} if kind is BanditForest else {}
    policy = kind(n_variables=30, n_actions=3, **more)
    learn(policy, 500)
    stopping = threading.Event()

    def work(call):
        while not stopping.is_set():
            call()

    calls = [
        lambda: learn(policy, 5000),
        lambda: policy.decide_many(CONTEXTS[:5000]),
        lambda: policy.decide(CONTEXTS[0]),
    ]
    threads = [threading.Thread(target=work, args=(call,), daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    try:
        for number in range(15):
            time.sleep(0.003 * number)
            child = os.fork()
            if child == 0:
                policy.decide_many(CONTEXTS[:100])
                learn(policy, 100)
                policy.decide(CONTEXTS[0])
                os._exit(0)
            assert ends_well(child), number
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
