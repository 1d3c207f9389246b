"""Property tests draw the same examples each time, and a busy machine does not fail them.

Beside a wheel without extras, only the tests of the engine are collected, and the header says so.
"""

import re
from importlib.util import find_spec
from pathlib import Path

from hypothesis import HealthCheck, settings

settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

HAS_EXTRAS = find_spec("msgspec") is not None


def pytest_report_header() -> str:
    """Report when tests are left out."""
    return "" if HAS_EXTRAS else "without the extra 'service': only files with tests of the engine are collected"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out files and folders that are not about the engine, and files that import what is not installed."""
    if HAS_EXTRAS:
        return None
    if collection_path.is_dir():
        return None if any("mark.core" in path.read_text() for path in collection_path.rglob("*.py")) else True
    text = collection_path.read_text()
    imported = re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
    return None if "mark.core" in text and all(map(find_spec, imported)) else True
