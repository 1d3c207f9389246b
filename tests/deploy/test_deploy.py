"""The files of a deployment: what can be run of them here is run."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from harness.postgres import PostgresProcess, why_not
from harness.service_process import ServiceProcess
from reference.service import metrics_text

DEPLOY = Path(__file__).parents[2] / "deploy"
KEYS = {"BANDIT_FOREST_KEY": "k" * 40, "BANDIT_FOREST_ADMIN_KEY": "a" * 40}
CONTEXT = {"age": 42, "country": "FR", "member": True}


def test_every_metric_of_the_dashboard_is_in_metrics():
    known = set(re.findall(r"^(bandit_forest_\w+)", metrics_text(), re.MULTILINE))
    known |= {"bandit_forest_request_seconds_bucket", "bandit_forest_refusals_total"}  # they begin with a request
    panels = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())["panels"]
    used = {
        name for panel in panels for one in panel["targets"] for name in re.findall(r"bandit_forest_\w+", one["expr"])
    }
    assert used
    assert used <= known, used - known


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_the_unit_is_one_that_systemd_takes(tmp_path: Path):
    command = Path(sys.executable).with_name("bandit-forest")
    unit = tmp_path / "bandit-forest.service"
    unit.write_text(
        (DEPLOY / "bandit-forest.service").read_text().replace("/usr/local/bin/bandit-forest", str(command))
    )
    told = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "bandit-forest.service" not in told.stderr, told.stderr


def instruction(name: str) -> list[str]:
    """Return the last instruction of the Dockerfile of a name, as a list."""
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    return json.loads(re.findall(rf"^.*\b{name} (\[.*\])$", text, re.MULTILINE)[-1])


@pytest.mark.slow
@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_what_the_container_does_is_done_by_its_entry_point_in_an_empty_environment(tmp_path: Path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    project = shutil.copy(DEPLOY / "project.toml", tmp_path)
    command = [*instruction("ENTRYPOINT"), *instruction("(?<!HEALTHCHECK )CMD")]
    command = [{"/etc/bandit-forest/project.toml": str(project), "8420": port}.get(word, word) for word in command]
    healthy = [word.replace("8420", port) for word in instruction("HEALTHCHECK.*CMD")]
    with PostgresProcess() as postgres:
        folder = str(Path(sys.executable).parent)
        environment = {
            "PATH": f"{folder}:/usr/bin:/bin",
            "BANDIT_FOREST_DATABASE": postgres.new_database("box"),
            **KEYS,
        }
        with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as box:
            try:
                deadline = time.monotonic() + 60
                while subprocess.run(healthy, env=environment, capture_output=True, check=False).returncode != 0:
                    assert time.monotonic() < deadline
                    time.sleep(0.2)
                headers = {"authorization": f"Bearer {KEYS['BANDIT_FOREST_KEY']}"}
                url = f"http://127.0.0.1:{port}/v1/decide"
                assert httpx.post(url, json={"context": CONTEXT}, headers=headers).status_code == 200
            finally:
                box.terminate()
            assert box.wait(30) == 0


@pytest.mark.slow
@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
@pytest.mark.skipif(shutil.which("nginx", path="/usr/sbin:/usr/bin") is None, reason="nginx is not installed")
def test_the_proxy_asks_the_other_replica(tmp_path: Path):
    tmp_path.chmod(0o755)
    project = shutil.copy(DEPLOY / "project.toml", tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with PostgresProcess() as postgres:
        environment = {"BANDIT_FOREST_DATABASE": postgres.new_database("proxied"), **KEYS}
        with (
            ServiceProcess(project, environment=environment) as one,
            ServiceProcess(project, environment=environment) as two,
        ):
            text = (DEPLOY / "nginx.conf").read_text().replace("listen 8420", f"listen 127.0.0.1:{port}")
            for name, replica in (("replica-1", one), ("replica-2", two)):
                text = text.replace(f"{name}:8420", f"127.0.0.1:{replica.port}")
            config = tmp_path / "nginx.conf"
            config.write_text(f"pid {tmp_path}/pid; error_log {tmp_path}/error.log;\n{text}")
            nginx = [shutil.which("nginx", path="/usr/sbin:/usr/bin"), "-c", str(config), "-g", "daemon off;"]
            with subprocess.Popen(nginx) as proxy:
                try:
                    answers(port, one)
                finally:
                    proxy.terminate()


def answers(port: int, replica: ServiceProcess) -> None:
    """Ask through the proxy, and kill a replica in between."""
    headers = {"authorization": f"Bearer {KEYS['BANDIT_FOREST_KEY']}"}
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30) as http:
        deadline = time.monotonic() + 30
        while True:
            try:
                http.get("/readyz").raise_for_status()
                break
            except httpx.HTTPError:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        for number in range(40):
            if number == 10:
                replica.kill()
            asked = {"context": CONTEXT, "event_id": f"e{number}"}
            first = http.post("/v1/decide", json=asked)
            assert first.status_code == 200, first.text
            assert http.post("/v1/decide", json=asked).json() == first.json()
