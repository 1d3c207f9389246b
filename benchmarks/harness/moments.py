"""Moments at which a kill hurts most: while a snapshot is written, a new journal file begins, or a start recovers."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

from harness.service_process import serve_command

__all__ = ["kill_in_recovery", "wait_for"]

_MOST_SECONDS = 20.0


def wait_for(moment: str, folder: Path) -> bool:
    """Wait until a snapshot is being written, or a new journal file has begun; return whether that came."""
    files = _journals(folder)
    until = time.monotonic() + _MOST_SECONDS
    while time.monotonic() < until:
        if moment == "snapshot" and any(folder.glob(".*.tmp")):
            return True
        if moment == "rotation" and _journals(folder) > files:
            return True
    return False


def kill_in_recovery(project: Path, seconds: float) -> None:
    """Start the service, and kill it a moment after it has opened its journal."""
    process = subprocess.Popen(serve_command(project), stdout=subprocess.DEVNULL)
    until = time.monotonic() + _MOST_SECONDS
    while not _has_opened_journal(process.pid) and process.poll() is None and time.monotonic() < until:
        pass
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()


def _journals(folder: Path) -> int:
    return len(list(folder.glob("journal-*.sqlite")))


def _has_opened_journal(pid: int) -> bool:
    folder = Path(f"/proc/{pid}/fd")
    try:
        return any("journal-" in str(file.readlink()) for file in folder.iterdir())
    except OSError:  # it has ended, or a file was closed meanwhile
        return False
