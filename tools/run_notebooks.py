"""Execute the notebooks of examples/, each from its first cell to its last: `make notebooks`.

With `--write` what they print and draw is kept in the files.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "examples"


def main() -> None:
    """Execute all notebooks; the first cell that fails ends the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="keep the outputs in the files")
    arguments = parser.parse_args()
    for path in sorted(FOLDER.glob("*.ipynb")):
        begun = time.perf_counter()
        notebook = nbformat.read(path, as_version=4)
        client = NotebookClient(notebook, timeout=120, record_timing=False, resources={"metadata": {"path": FOLDER}})
        client.execute()
        if arguments.write:
            notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
            nbformat.write(notebook, path)
        print(f"{path.name}: {len(notebook.cells)} cells, {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
