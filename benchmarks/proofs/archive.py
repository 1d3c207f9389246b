"""Saved forests, mutated by libFuzzer under AddressSanitizer: refused, or forests that decide and learn."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["run_part"]

_ROOT = Path(__file__).parents[2]
_RUNS = 10_000
_MOST_SECONDS = 1


def run_part(part: int) -> dict[str, Any]:
    """Mutate forests of every growth, with a seed of its own."""
    subprocess.run(["make", "-s", "build/checks/fuzz_archive"], cwd=_ROOT, check=True)
    with tempfile.TemporaryDirectory() as corpus:
        command = [
            str(_ROOT / "build/checks/fuzz_archive"),
            *(
                f"-runs={_RUNS}",
                f"-seed={part + 1}",
                f"-timeout={_MOST_SECONDS}",
                "-max_len=300000",
                "-print_final_stats=1",
            ),
            f"-artifact_prefix={_ROOT}/build/checks/",
            corpus,
        ]
        environment = os.environ | {"BANDIT_FOREST_CORPUS": corpus}
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise AssertionError(ended.stderr[-5000:])
    found = re.search(r"number_of_executed_units: (\d+)", ended.stderr)
    covered = re.findall(r"cov: (\d+)", ended.stderr)
    assert found is not None
    return {
        "files": int(found[1]),
        "edges_covered": int(covered[-1]),
        "crashes": 0,
        "hangs": 0,
        "allocations_too_large": 0,
    }
