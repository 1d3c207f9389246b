"""Tasks on all cores, each in a fresh process that ends with its parent, whatever happens to it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple, cast

from bandit_forest.errors import BanditForestError
from bandit_forest.experiments.run.tasks import Task

__all__ = ["TaskFailedError", "Update", "run_tasks"]

_SECONDS_BETWEEN_REPORTS = 0.2
_SPAWN = multiprocessing.get_context("spawn")  # works everywhere, and inherits no threads and no locks
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class TaskFailedError(BanditForestError, RuntimeError):
    """A process could not finish its task; the message says why."""


class Update(NamedTuple):
    """Progress of a task."""

    n_done: int
    reward: float | None
    """Average reward so far, where there is one."""
    is_finished: bool = False
    error: str | None = None


def run_tasks(tasks: Sequence[Task], *, jobs: int, on_update: Callable[[int, Update], object]) -> None:
    """Run tasks, at most `jobs` at a time; when one fails, or Ctrl-C is pressed, the others are stopped.

    Parameters
    ----------
    tasks
        The tasks, in the order in which they start.
    jobs
        Number of processes that work at a time.
    on_update
        Called with the number of a task and its progress.
    """
    waiting = deque(range(len(tasks)))
    running: dict[Connection, tuple[int, BaseProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                number = waiting.popleft()
                receiver, process = _start(tasks[number])
                running[receiver] = number, process
                on_update(number, Update(0, None))
            for ready in cast("list[Connection]", wait(list(running))):
                number, process = running[ready]
                update = _receive(ready, process)
                if update.error is not None:
                    raise TaskFailedError(f"{tasks[number].label} failed: {update.error}")
                if update.is_finished:
                    process.join()
                    ready.close()
                    del running[ready]
                on_update(number, update)
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.join()


def _start(task: Task) -> tuple[Connection, BaseProcess]:
    receiver, sender = _SPAWN.Pipe(duplex=False)
    process = _SPAWN.Process(target=_work, args=(task, sender), daemon=True)
    with _inherited():
        process.start()
    sender.close()  # so that the pipe ends when the process does
    return receiver, process


def _receive(receiver: Connection, process: BaseProcess) -> Update:
    try:
        update: Update = receiver.recv()
    except EOFError:
        process.join()
        return Update(0, None, error=f"its process ended with code {process.exitcode}")
    return update


@contextmanager
def _inherited() -> Iterator[None]:
    """Set what a process inherits when it starts: one thread, which makes sums repeatable, and no Ctrl-C of its own."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    has_masks = hasattr(signal, "pthread_sigmask")
    if has_masks:
        resource_tracker.ensure_running()  # the first process would start it, and that ends the block of Ctrl-C
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if has_masks else set()
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if has_masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)  # a Ctrl-C that came meanwhile is heard now


class _Reporter:
    """Sends the progress of a task to the parent, every now and then."""

    def __init__(self, sender: Connection) -> None:
        self._sender = sender
        self._last_time = 0.0
        self.reward: float | None = None

    def __call__(self, n_done: int, reward: float | None) -> None:
        self.reward = reward
        now = time.monotonic()
        if now - self._last_time >= _SECONDS_BETWEEN_REPORTS:
            self._last_time = now
            self._sender.send(Update(n_done, reward))


def _work(task: Task, sender: Connection) -> None:
    """Run a task in its own process, and send its outcome to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and stops this process
    with suppress(BrokenPipeError):  # the parent is gone, and nobody waits for the rest
        sender.send(_outcome(task, _Reporter(sender)))


def _outcome(task: Task, report: _Reporter) -> Update:
    try:
        task.run(report)
    except BrokenPipeError:
        raise
    except Exception as error:
        return Update(0, None, error=f"{type(error).__name__}: {error}")
    return Update(task.size, report.reward, is_finished=True)
