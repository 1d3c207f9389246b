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

FAMILY = re.compile(r"^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$", re.MULTILINE)


@dataclass(frozen=True)
class Told:
    """What a service with the example's project tells."""

    openapi: dict[str, Any]
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
                metrics=client.get("/metrics").text,
                status=msgspec.convert(status | unknown, Status, strict=False),
            )


def metrics_text() -> str:
    """Return all metrics of a service that knows everything, as Prometheus reads them."""
    return exposition(service_tells().status, Evaluation(average_reward=None, policies=()), Measures()).decode()


def metrics_page() -> str:
    """Return the page of the metrics."""
    lines = [(f"`{name}`", kind, text) for name, text, kind in FAMILY.findall(metrics_text())]
    intro = "# Metrics\n\n`GET /metrics` answers in the text format of Prometheus.\n"
    return f"{intro}\n{table(('metric', 'type', 'what'), lines)}"


def http_page() -> str:
    """Return the page of the HTTP API."""
    intro = (
        "# HTTP API\n\nRequests and answers are JSON. `/openapi.json` of a running service describes every type, with "
        'the features and actions of its project. A refusal is `{"error": {"code", "message", "path"}}`.\n'
    )
    paths = service_tells().openapi["paths"]
    operations = [(path, method, one) for path, methods in paths.items() for method, one in methods.items()]
    common = set.intersection(*(_codes(one) for _, method, one in operations if method == "post"))
    lines = [
        (method.upper(), f"`{path}`", one["summary"], _key(path, one), ", ".join(sorted(_codes(one) - common)))
        for path, method, one in operations
    ]
    header = ("method", "path", "what", "key", "refusals of its own")
    return f"{intro}\nEvery request may be refused with: {', '.join(sorted(common))}.\n\n{table(header, lines)}"


def _codes(operation: dict[str, Any]) -> set[str]:
    refusals = (one["description"] for status, one in operation["responses"].items() if status != "200")
    return {code for text in refusals for code in text.split(", ")}


def _key(path: str, operation: dict[str, Any]) -> str:
    """Return the key that a path asks for, where a project has keys; what is refused to nobody is public."""
    return role_needed(path).name.lower() if "unauthorized" in _codes(operation) else Role.PUBLIC.name.lower()
