"""Tasks on all cores, each in a new process that ends with its parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple, cast

from bandit_forest.distributed.tasks import OnUpdate, Reporter, SharedFile, Task, TaskFailedError, Update
from bandit_forest.validation import check_int

__all__ = ["Local"]

_MOST_DEATHS = 3  # of the process of one task: it may be the task that kills it
_SPAWN = multiprocessing.get_context("spawn")  # works everywhere, and inherits no threads and no locks
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Local:
    """Launcher of tasks on this machine, each in its own process.

    Parameters
    ----------
    jobs
        Number of processes that work at a time; all cores when None.

    Examples
    --------
    >>> Local(2)
    Local(2)
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = check_int(os.cpu_count() or 1 if jobs is None else jobs, "jobs", "Local")

    def __repr__(self) -> str:
        return f"Local({self.jobs})"

    def share(self, path: Path) -> SharedFile:
        """Return a file for tasks to read: where it is."""
        return _FileHere(path)

    def run(self, tasks: Sequence[Task], *, on_update: OnUpdate) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each task and its result, as they come; see `Launcher`."""
        waiting = deque(range(len(tasks)))
        deaths = [0] * len(tasks)
        running: dict[Connection, tuple[int, BaseProcess]] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    number = waiting.popleft()
                    with _inherited():
                        receiver, process = _start(tasks[number])
                        running[receiver] = number, process
                    on_update(number, Update(0, None))
                for ready in cast("list[Connection]", wait(list(running))):
                    number, process = running[ready]
                    message = _receive(ready)
                    if isinstance(message, Update):
                        on_update(number, message)
                        continue
                    process.join()
                    ready.close()
                    del running[ready]
                    if message is None:
                        deaths[number] += 1
                        waiting.appendleft(number)
                    if isinstance(message, str) or deaths[number] == _MOST_DEATHS:
                        why = message or f"its process ended with code {process.exitcode}"
                        raise TaskFailedError(f"{tasks[number].label} failed: {why}")
                    if isinstance(message, _Finished):
                        on_update(number, Update(tasks[number].size, message.reward, is_finished=True))
                        yield number, message.result
        finally:
            for _, process in running.values():
                process.terminate()
            for _, process in running.values():
                process.join()


class _FileHere(NamedTuple):
    path: Path

    def open(self) -> Path:
        return self.path


class _Finished(NamedTuple):
    result: bytes
    reward: float | None


def _start(task: Task) -> tuple[Connection, BaseProcess]:
    receiver, sender = _SPAWN.Pipe(duplex=False)
    process = _SPAWN.Process(target=_work, args=(task, sender), daemon=True)
    process.start()
    sender.close()  # so that the pipe ends when the process does
    return receiver, process


def _receive(receiver: Connection) -> Update | _Finished | str | None:
    """Return what a process tells: its progress, its result or its failure; None when it has died."""
    try:
        message: Update | _Finished | str = receiver.recv()
    except (EOFError, ConnectionResetError):
        return None
    return message


@contextmanager
def _inherited() -> Iterator[None]:
    """Set what a process inherits when it starts: one thread, which makes sums repeatable, and no Ctrl-C of its own."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        with _ctrl_c_heard_later(), _ctrl_c_blocked():
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Block Ctrl-C in this thread and in the processes that it starts, where the system knows how."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # the first process would start it, and that ends the block of Ctrl-C
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _ctrl_c_heard_later() -> Iterator[None]:
    """Delay a Ctrl-C until the process has started: one that is stopped halfway would read half of its task."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if heard:
            signal.raise_signal(signal.SIGINT)


def _work(task: Task, sender: Connection) -> None:
    """Run a task in its own process, and send its outcome to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and stops this process
    with suppress(BrokenPipeError):  # the parent is gone, and nobody waits for the rest
        sender.send(_outcome(task, Reporter(sender.send)))


def _outcome(task: Task, report: Reporter) -> _Finished | str:
    try:
        return _Finished(task.run(report), report.reward)
    except BrokenPipeError:
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
