"""Property tests draw the same examples each time, and a busy machine does not fail them.

Beside a wheel alone, the tests that need an extra are not collected, and the header says which.
"""

from importlib.util import find_spec

from hypothesis import HealthCheck, settings

settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")

_FRAMES = ("pandas", "polars", "pyarrow")
_NEEDS = {
    "adapters": ("sklearn",),
    "bandit/test_bandit.py": _FRAMES,
    "bandit/test_newcomer.py": _FRAMES,
    "benchmarks": ("rich",),
    "cli": ("typer",),
    "distributed/test_local.py": ("rich",),
    "docs": ("typer", "httpx", "msgspec"),
    "encoding/test_encoding.py": (*_FRAMES, "sklearn"),
    "evaluation": ("typer", "pyarrow"),
    "experiments": ("typer", "sklearn"),
    "service": ("typer", "httpx", "msgspec", "prometheus_client"),
}

collect_ignore = [path for path, modules in _NEEDS.items() if not all(map(find_spec, modules))]


def pytest_report_header() -> str:
    """Name the tests that are left out."""
    return f"not collected, for want of an extra: {', '.join(collect_ignore)}" if collect_ignore else ""
