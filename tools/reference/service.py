"""The pages of the HTTP API and of the metrics: what a running service tells about itself."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

import httpx
import msgspec

from bandit_forest.service.config.project_file import example_project
from bandit_forest.service.http.authentication import Role, role_needed
from bandit_forest.service.http.metrics import Measures, exposition
from bandit_forest.service.operations.results import Evaluation
from bandit_forest.service.operations.status import Status
from harness.service_process import ServiceProcess
from reference.markdown import table

__all__ = ["Told", "http_page", "metrics_page", "metrics_text", "service_tells"]

_OFFERED = "[context.member]\nkind = 'boolean'\n[offered.price]\nkind = 'numeric'\n[storage]\nfolder = 'offered'\n"
FAMILY = re.compile(r"^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$", re.MULTILINE)


@dataclass(frozen=True)
class Told:
    """What a service with the example's project tells."""

    openapi: dict[str, Any]
    offered: dict[str, Any]
    """OpenAPI of a service whose events offer their actions."""
    metrics: str
    status: Status


@cache
def service_tells() -> Told:
    """Serve the example for a moment, with one event, and ask."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project.toml"
        project.write_text(example_project())
        with ServiceProcess(project) as service, httpx.Client(base_url=service.address) as client:
            context = {"age": 42, "basket": 31.5, "country": "FR", "campaign": "spring", "member": True}
            client.post("/v1/decide", json={"event_id": "1", "context": context}).raise_for_status()
            client.post("/v1/reward", json={"event_id": "1", "reward": 1}).raise_for_status()
            status = client.get("/v1/status").json()
            hints = get_type_hints(Status)
            unknown = {name: 1 for name, value in status.items() if value is None and str not in get_args(hints[name])}
            return Told(
                openapi=client.get("/openapi.json").json(),
                offered=_described(Path(folder)),
                metrics=client.get("/metrics").text,
                status=msgspec.convert(status | unknown, Status, strict=False),
            )


def _described(folder: Path) -> dict[str, Any]:
    """Return the description of a service with offered actions."""
    project = folder / "offered.toml"
    project.write_text(_OFFERED)
    with ServiceProcess(project) as service:
        told: dict[str, Any] = httpx.get(f"{service.address}/openapi.json").json()
    return told


def metrics_text() -> str:
    """Return all metrics of a service that knows everything, as Prometheus reads them."""
    return exposition(service_tells().status, Evaluation(average_reward=None, policies=()), Measures()).decode()


def metrics_page() -> str:
    """Return the page of the metrics."""
    lines = [(f"`{name}`", kind, text) for name, text, kind in FAMILY.findall(metrics_text())]
    intro = "# Metrics\n\n`GET /metrics` answers in the text format of Prometheus.\n"
    return f"{intro}\n{table(('metric', 'type', 'meaning'), lines)}"


def http_page() -> str:
    """Return the page of the HTTP API."""
    intro = (
        "# HTTP API\n\nRequests and answers are JSON. `/openapi.json` of a running service describes every type, with "
        'the features and actions of its project. A refusal is `{"error": {"code", "message", "path"}}`.\n'
    )
    told = service_tells()
    fixed, offered = _operations(told.openapi), _operations(told.offered)
    common = set.intersection(*(_codes(one) for _, method, one in fixed if method == "post"))
    own = [one for one in offered if one not in fixed]
    return (
        f"{intro}\nEvery request may be refused with: {', '.join(sorted(common))}.\n\n{_table(fixed, common)}\n"
        "## Offered actions\n\nA project with `[offered.NAME]` tables has these paths instead of `/v1/decide` and "
        "`/v1/actions`, which it refuses with wrong_project. A project with `[actions]` refuses `/v1/rank`. All other "
        "paths are the same.\n\n"
        f"{_table(own, common)}"
    )


def _operations(openapi: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(path, method, one) for path, methods in openapi["paths"].items() for method, one in methods.items()]


def _table(operations: list[tuple[str, str, dict[str, Any]]], common: set[str]) -> str:
    lines = [
        (method.upper(), f"`{path}`", one["summary"], _key(path, one), ", ".join(sorted(_codes(one) - common)))
        for path, method, one in operations
    ]
    return table(("method", "path", "summary", "key", "own refusals"), lines)


def _codes(operation: dict[str, Any]) -> set[str]:
    refusals = (one["description"] for status, one in operation["responses"].items() if status != "200")
    return {code for text in refusals for code in text.split(", ")}


def _key(path: str, operation: dict[str, Any]) -> str:
    """Return the key that a path asks for, where a project has keys; what is refused to nobody is public."""
    return role_needed(path).name.lower() if "unauthorized" in _codes(operation) else Role.PUBLIC.name.lower()
