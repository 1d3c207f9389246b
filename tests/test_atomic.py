"""Files that are written whole or not at all."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from bandit_forest.atomic import replacing, write_text
from bandit_forest.evaluation import Log
from bandit_forest.evaluation.writers import write_dsjson, write_obp, write_vw

SOURCES = sorted((Path(__file__).parents[1] / "src" / "bandit_forest").rglob("*.py"))
OTHERS = {
    "atomic.py",  # this is how it is done
    "cli/service_commands.py",  # a new project file, which must not be there before
    "experiments/files.py",  # grows by whole lines, under a lock
    "experiments/run/tasks.py",  # in a temporary folder
    "worlds/datasets/fetching.py",  # a download that goes on where it ended
}


class Interrupted:
    """A log whose second batch cannot be read."""

    def __init__(self) -> None:
        self.log = Log(actions=[1], rewards=[1.0], propensities=[0.5], contexts=[[0, 1]], action_names=2)
        self.action_names = self.log.action_names

    def batches(self):
        yield self.log
        raise ValueError("the file ends here")


@pytest.mark.parametrize("write", [write_dsjson, write_vw, write_obp])
def test_a_log_that_fails_halfway_leaves_the_old_file(write, tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="the file ends here"):
        write(Interrupted(), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_refusal_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "nowhere" / "log"
    with pytest.raises(FileNotFoundError) as refused:
        write_text(path, "")
    assert refused.value.filename == str(path)


@pytest.mark.skipif(os.name != "posix", reason="needs a named pipe")
def test_a_pipe_is_written_and_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(path) as stream:
        stream.write(b"rows")
    assert os.read(reader, 100) == b"rows"
    os.close(reader)
    assert path.is_fifo()


def test_text_is_written_in_utf_8_with_the_ends_of_lines_that_it_has(tmp_path):
    write_text(tmp_path / "text", "é\n")
    assert (tmp_path / "text").read_bytes() == "é\n".encode()


def test_files_are_written_by_this_helper_only():
    plain = {path for path in SOURCES if any(map(writes, ast.walk(ast.parse(path.read_text()))))}
    assert {path.relative_to(SOURCES[0].parent).as_posix() for path in plain} == OTHERS


def writes(node: ast.AST) -> bool:
    """Return whether a node is a call that opens a file for writing, or writes one."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("write_text", "write_bytes"):
        return True
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", None)
    modes = {text for one in ast.walk(node) if isinstance(one, ast.Constant) for text in [one.value]}
    return name == "open" and any(isinstance(mode, str) and set(mode) <= set("wax+bt") and mode for mode in modes)
