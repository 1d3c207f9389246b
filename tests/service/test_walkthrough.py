"""The walk-throughs of docs/service.md, docs/tutorial.md and docs/actions.md, run by a shell as a reader would.

What they print has the shape that is shown.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
MARK = "=== end of step"


def steps(page: str, heading: str) -> list[tuple[str, str | None]]:
    """Return the commands of a walk-through, each with the JSON that it is said to print."""
    text = (DOCS / page).read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```(?:\n```json\n(.*?)```)?", text, flags=re.DOTALL)


def shape(value: object) -> object:
    """Return the parts that stay the same from run to run: names, and values that are not numbers or sentences."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items() if name not in ("message", "action")}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return type(value).__name__ if isinstance(value, (int, float)) else value


def walk(steps: list[tuple[str, str | None]], folder: Path) -> list[str]:
    """Run the commands, compare the answers, and give what was printed by each step."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    script = "set -euo pipefail\n" + "\n".join(f"{commands}\necho '{MARK}'" for commands, _ in steps)
    ended = subprocess.run(
        ["bash", "-c", script.replace("8420", port)],
        cwd=folder,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    printed = ended.stdout.split(MARK)
    for (commands, expected), told in zip(steps, printed, strict=False):
        if expected:
            answer = json.loads(told.strip().splitlines()[-1])
            assert shape(answer) == shape(json.loads(expected)), commands
    return printed


pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")]


def test_the_walk_through_works_as_it_is_written(tmp_path):
    printed = walk(steps("service.md", "A walk-through"), tmp_path)
    why = json.loads((tmp_path / "why.json").read_text())
    assert max(why["mean_rewards"], key=why["mean_rewards"].get) == "free shipping"
    assert json.loads((tmp_path / "importance.json").read_text())["variables"][0]["name"] == "member"
    assert "".join(printed).count("byte for byte") == 2
    assert (tmp_path / "history.parquet").stat().st_size > 0


def test_the_tutorial_ends_with_a_service(tmp_path):
    printed = walk(steps("tutorial.md", "Serve it"), tmp_path)
    assert "byte for byte" in printed[-2]


def test_offered_actions_are_ranked_by_a_service(tmp_path):
    printed = walk(steps("actions.md", "In the service"), tmp_path)
    assert "a17" in printed[-2]
    assert "byte for byte" in printed[-2]
