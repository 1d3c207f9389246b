"""A service in a process of its own, for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import httpx

from harness.service_process import ServiceProcess

__all__ = ["ADMIN_KEY", "CONTEXT", "ENVIRONMENT", "KEY", "KEYS", "Running", "write_project"]

KEY, ADMIN_KEY = "decide-secret-of-offers", "admin-secret-of-offers"
KEYS = '[keys]\ndecide = ["env:OFFERS_KEY"]\nadmin = ["env:OFFERS_ADMIN_KEY"]\n'
ENVIRONMENT = {"OFFERS_KEY": KEY, "OFFERS_ADMIN_KEY": ADMIN_KEY}
CONTEXT = {"age": 42, "city": "Paris", "member": True}

_PROJECT = """
[project]
name = "offers"
{project}
[actions]
names = ["basic", "plus", "gold"]
capacity = 6
[context.age]
kind = "numeric"
edges = [30, 50]
missing = true
[context.city]
kind = "categorical"
values = ["Lannion", "Paris"]
[context.member]
kind = "boolean"
[forest]
n_trees = 5
[storage]
folder = "data"
{storage}
"""


def write_project(folder: Path, *, project: str = "", storage: str = "", more: str = "") -> Path:
    """Write a small project file."""
    file = folder / "project.toml"
    file.write_text(_PROJECT.format(project=project, storage=storage) + more)
    return file


class Running(ServiceProcess):
    """A running service, and a client for it."""

    def __init__(
        self,
        project: Path,
        *,
        environment: Mapping[str, str] | None = None,
        log: IO[str] | None = None,
        options: Sequence[str] = (),
    ) -> None:
        super().__init__(project, environment=environment, log=log, options=options)
        self.http = httpx.Client(base_url=self.address, timeout=30)

    def post(self, path: str, body: object, *, expect: int = 200, key: str | None = None) -> dict:
        """Send JSON and give back JSON."""
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        response = self.http.post(path, json=body, headers=headers)
        assert response.status_code == expect, response.text
        return response.json()

    def get(self, path: str, *, expect: int = 200) -> dict:
        """Return JSON."""
        response = self.http.get(path)
        assert response.status_code == expect, response.text
        return response.json()

    def refused(self, path: str, body: object, *, status: int, code: str, at: str | None = None) -> None:
        """Send what must be refused, and look at how."""
        error = self.post(path, body, expect=status)["error"]
        assert (error["code"], error.get("path")) == (code, at), error
        assert error["message"]

    def state(self) -> dict:
        """Return all that must not change when a request is refused."""
        status = self.get("/v1/status")
        return {name: status[name] for name in ("seq", "decisions", "rewards", "learned", "waiting", "model_version")}

    def __exit__(self, *_: object) -> None:
        self.http.close()
        super().__exit__()
