"""Build the source archive and the wheels, check them, and test each in an empty environment.

`make wheels PYTHONS="python3.12 python3.13"` runs it. The interpreter that runs it builds the wheel of CPython 3.11.
The first of the others that is there builds the one of the stable ABI, for 3.12 and later, and all of them test it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
STABLE = "cp312"  # the oldest version whose stable ABI the engine can use


def run(*command: object) -> None:
    """Run a command, and stop where it fails."""
    print("$", *command, flush=True)
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT)


def version(python: str) -> tuple[int, int] | None:
    """Return the version of an interpreter, or None if it cannot be run."""
    show = "import sys; print(*sys.version_info[:2])"
    try:
        told = subprocess.run([python, "-c", show], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None
    return int(told[0]), int(told[1])


def build(dist: Path, stable: str | None) -> None:
    """Build the source archive and a wheel of this interpreter, then a wheel of the stable ABI from the archive."""
    run(sys.executable, "-m", "build", "--outdir", dist, ".")
    if stable is not None:
        archive = next(dist.glob("*.tar.gz"))
        settings = f"--config-settings=wheel.py-api={STABLE}"
        run(stable, "-m", "pip", "wheel", "--no-deps", settings, "--wheel-dir", dist, archive)


def check(dist: Path) -> None:
    """Check what is in the archives, and that the wheel of the stable ABI uses nothing else."""
    scripts = Path(sys.executable).parent
    run(scripts / "twine", "check", "--strict", *dist.iterdir())
    run(scripts / "check-wheel-contents", *dist.glob("*.whl"))
    for wheel in dist.glob("*-abi3-*.whl"):
        run(scripts / "abi3audit", "--strict", "--verbose", wheel)


def test(dist: Path, python: str) -> None:
    """Install a wheel in an empty environment, and run the tests of the engine."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", folder)
        installed = Path(folder) / "bin" / "python"
        run(installed, "-m", "pip", "install", "-q", "--find-links", dist, "--only-binary=:all:", "bandit-forest")
        run(installed, "-m", "pip", "install", "-q", "pytest", "hypothesis")
        run(installed, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "core", "tests")


def found(pythons: list[str]) -> Iterator[str]:
    """Yield the interpreters that can be run, and name the others."""
    for python in pythons:
        known = version(python)
        if known is None:
            print(f"{python} is not here: nothing is built or tested with it")
        elif known >= (3, 12):
            yield python


def main() -> None:
    """Build, check, test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", help="interpreters of CPython 3.12 and later")
    parser.add_argument("--test", action="store_true", help="test the wheels in empty environments")
    arguments = parser.parse_args()
    pythons = list(found(arguments.pythons))
    with tempfile.TemporaryDirectory() as folder:
        dist = Path(folder)
        build(dist, pythons[0] if pythons else None)
        check(dist)
        if arguments.test:
            for python in (sys.executable, *pythons):
                test(dist, python)
        (ROOT / "dist").mkdir(exist_ok=True)
        for file in dist.iterdir():
            (ROOT / "dist" / file.name).write_bytes(file.read_bytes())


if __name__ == "__main__":
    main()
