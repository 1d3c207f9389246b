"""A fork while other threads use a bandit: the child can use it, too."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from bandit_forest.bandit import Bandit
from bandit_forest.bandit.pairs import PairBandit

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with fork")

OFFER = [{"id": number, "price": float(number)} for number in range(4)]


def use_fixed(bandit: Any) -> None:
    bandit.learn(bandit.decide({"age": 42}), reward=1.0)


def use_pairs(bandit: Any) -> None:
    bandit.learn(bandit.decide({"age": 42}, actions=OFFER), reward=1.0)


@pytest.mark.skipif(sys.version_info >= (3, 12) and sys.flags.dev_mode, reason="warns of every fork with threads")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize(
    ("bandit", "use"),
    [(Bandit(actions=["a", "b"], warm_up_events=5), use_fixed), (PairBandit(warm_up_events=5), use_pairs)],
    ids=["Bandit", "PairBandit"],
)
def test_a_child_that_was_forked_while_others_use_a_bandit_can_use_it(bandit: Any, use: Callable[[Any], None]) -> None:
    stopping = threading.Event()

    def work() -> None:
        while not stopping.is_set():
            use(bandit)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            time.sleep(0.01)
            child = os.fork()
            if child == 0:
                signal.alarm(10)  # it hangs otherwise, when a lock is held by a thread that it does not have
                use(bandit)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
    use(bandit)
