"""Tasks on a cluster of Ray."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bandit_forest.distributed.tasks import OnUpdate, Reporter, SharedFile, Task, TaskFailedError, Update
from bandit_forest.errors import MissingExtraError

__all__ = ["Ray"]

_SECONDS_BETWEEN_LOOKS = 0.2
_MOST_DEATHS = 5  # of workers and nodes that run one task


class Ray:
    """Launcher of tasks on the machines of a Ray cluster, one core per task. All machines need the package.

    Parameters
    ----------
    address
        Such as 'ray://head:10001' or 'head:6379'; None: the cluster that this process is connected to, or that
        RAY_ADDRESS names, else a new one on this machine.
    """

    def __init__(self, address: str | None = None) -> None:
        try:
            import ray
        except ImportError as error:
            raise MissingExtraError("Ray is not installed: pip install 'bandit-forest[ray]'.") from error
        self._ray: Any = ray
        self._address = address
        if not ray.is_initialized():
            where = address or os.environ.get("RAY_ADDRESS", "local")
            ray.init(address=where, log_to_driver=False, logging_level="ERROR")

    def __repr__(self) -> str:
        return f"Ray({self._address!r})"

    def share(self, path: Path) -> SharedFile:
        """Return a file for tasks to read: its content is in the object store."""
        return _StoredFile(self._ray.put(path.read_bytes()))

    def run(self, tasks: Sequence[Task], *, on_update: OnUpdate) -> Iterator[tuple[int, bytes]]:
        """Yield the number of each task and its result, as they come; see `Launcher`."""
        ray = self._ray
        board = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Board).remote()
        work = ray.remote(num_cpus=1, max_retries=_MOST_DEATHS)(_work)
        running = {work.remote(task, number, board): number for number, task in enumerate(tasks)}
        try:
            while running:
                finished, _ = ray.wait(list(running), num_returns=1, timeout=_SECONDS_BETWEEN_LOOKS)
                for number, update in self._take(board).items():
                    if number in running.values():  # progress may arrive after the end
                        on_update(number, update)
                for one in finished:
                    number = running.pop(one)
                    result, reward = self._result(one, tasks[number])
                    on_update(number, Update(tasks[number].size, reward, is_finished=True))
                    yield number, result
        finally:
            for one in running:
                ray.cancel(one, force=True)
            ray.kill(board)

    def _take(self, board: Any) -> dict[int, Update]:
        """Return the progress of all tasks; none while the actor that knows it comes back from a dead node."""
        taken: dict[int, Update] = {}
        with suppress(self._ray.exceptions.RayError):
            taken = self._ray.get(board.take.remote(), timeout=1.0)
        return taken

    def _result(self, finished: Any, task: Task) -> tuple[bytes, float | None]:
        try:
            result: tuple[bytes, float | None] = self._ray.get(finished)
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            raise TaskFailedError(f"{task.label} failed: {type(cause).__name__}: {cause}") from error
        except self._ray.exceptions.RayError as error:
            raise TaskFailedError(f"{task.label} failed: {error}") from error
        return result


@dataclass(frozen=True)
class _StoredFile:
    reference: Any

    def open(self) -> io.BytesIO:
        import ray

        return io.BytesIO(ray.get(self.reference))


class _Board:
    """Progress of tasks since it was last asked for; an actor."""

    def __init__(self) -> None:
        self._updates: dict[int, Update] = {}

    def tell(self, number: int, update: Update) -> None:
        self._updates[number] = update

    def take(self) -> dict[int, Update]:
        updates, self._updates = self._updates, {}
        return updates


def _work(task: Task, number: int, board: Any) -> tuple[bytes, float | None]:
    """Run a task in a worker."""
    report = Reporter(partial(board.tell.remote, number))
    return task.run(report), report.reward
