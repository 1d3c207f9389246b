"""Load on the decision service: decide+reward pairs a second, latencies of decide, and batches.

    python benchmarks/service.py
    python benchmarks/service.py --before OTHER/.venv/bin/python --turns 40 --seconds 1

The service runs in a process of its own, with a durable journal and 100 variables; this process is the
client, over loopback with connections that stay open. On an idle machine with two cores. `--before` names the Python
of another version of the package: the two are measured in turns, each stopped while the other is measured. Short turns
cancel a machine whose speed changes. Shown are the medians, and of the ratios of all turns the median with its 95 %
interval. Where the default forests of the two versions differ, `--growth Elimination` compares what is around them. No
snapshot is taken meanwhile.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import uvloop
from rich.console import Console
from rich.table import Table

from harness.service_load import ACTIONS, N_VARIABLES, BatchClient, PairClient, prepare, run
from harness.service_process import ServiceProcess

BATCH = 100
BATCH_CONNECTIONS = 8
RULES = {
    "Greedy": "",
    "Elimination": '[forest.growth]\nrule = "Elimination"\n[forest.exploration]\nrule = "UniformOverRemaining"',
}

Measures = dict[str, float]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    parser.add_argument("--connections", type=int, default=48, help="clients at a time")
    parser.add_argument("--trees", type=int, default=None, help="each version's own default when left out")
    parser.add_argument("--growth", choices=list(RULES), default="Greedy", help="rule by which the trees grow")
    parser.add_argument("--folder", type=Path, default=Path("out"), help="on the disk to measure")
    parser.add_argument("--before", default=None, help="Python of another version, to be compared with")
    parser.add_argument("--turns", type=int, default=2, help="measurements of each version; an even number is fair")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    pythons = {"now": sys.executable} if options.before is None else {"before": options.before, "now": sys.executable}
    measured: dict[str, list[Measures]] = {version: [] for version in pythons}
    with ExitStack() as stack:
        services = {version: start(stack, python, options) for version, python in pythons.items()}
        for turn in range(options.turns + 1):
            order = list(pythons) if turn % 2 == 0 else list(reversed(pythons))  # what is first may be at an advantage
            for version in order:
                measured[version].append(measure(services[version], options))
    show({version: turns[1:] for version, turns in measured.items()})  # in the first, trees begin to grow


def start(stack: ExitStack, python: str, options: argparse.Namespace) -> ServiceProcess:
    """Start one version on an empty storage folder, and stop it until it is measured."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder)))
    service = ServiceProcess(write_project(folder, options.trees, RULES[options.growth]), python=python)
    stack.callback(service.kill)
    service.process.send_signal(signal.SIGSTOP)
    return service


def measure(service: ServiceProcess, options: argparse.Namespace) -> Measures:
    """Return the measures of one turn."""
    measures = {"one fsync of this disk, ms": 1000 * fsync_seconds(options.folder)}
    service.process.send_signal(signal.SIGCONT)
    measures |= uvloop.run(put_load(service, options.seconds, options.connections))
    service.process.send_signal(signal.SIGSTOP)
    return measures


async def put_load(service: ServiceProcess, seconds: float, connections: int) -> Measures:
    """Run the loads, one after the other."""
    began = cpu_seconds(service)
    pairs = await run(service, PairClient, prepare(1), connections, seconds)
    between = cpu_seconds(service)
    batches = await run(service, BatchClient, prepare(BATCH), BATCH_CONNECTIONS, seconds)
    ended = cpu_seconds(service)
    return {
        f"decide+reward pairs/s, {connections} connections": pairs.n_events / pairs.seconds,
        "processor time of a pair, µs": 1e6 * (between - began) / pairs.n_events,
        "decide, p50, ms": 1000 * pairs.quantile(0.5),
        "decide, p99, ms": 1000 * pairs.quantile(0.99),
        f"decisions/s in batches of {BATCH}, {BATCH_CONNECTIONS} connections": batches.n_events / batches.seconds,
        "processor time of a decision in a batch, µs": 1e6 * (ended - between) / batches.n_events,
    }


def show(measured: dict[str, list[Measures]]) -> None:
    """Print the medians, and the ratios of the turns where there are two versions."""
    table = Table("", *measured, *(["now / before", "95 %"] if "before" in measured else []))
    for name in measured["now"][0]:
        medians = [median(measures[name] for measures in turns) for turns in measured.values()]
        cells = [f"{value:,.4g}" if value < 100 else f"{value:,.0f}" for value in medians]
        if "before" in measured:
            ratios = sorted(now[name] / before[name] for before, now in zip(*measured.values(), strict=True))
            low, high = median_interval(len(ratios))
            cells += [f"{median(ratios):.2f}", f"{ratios[low]:.2f} to {ratios[high]:.2f}"]
        table.add_row(name, *cells)
    Console(highlight=False).print(table)


def median_interval(n: int) -> tuple[int, int]:
    """Return the places, in sorted numbers, of the limits of a 95 % interval for their median."""
    low = max(0, int(n / 2 - 0.98 * n**0.5))
    return low, n - 1 - low


def cpu_seconds(service: ServiceProcess) -> float:
    """Return the processor time that the service has taken, where the system tells it."""
    try:
        parts = Path(f"/proc/{service.process.pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def write_project(folder: Path, n_trees: int | None, rules: str = "") -> Path:
    """Write the project that is measured."""
    trees = "" if n_trees is None else f"n_trees = {n_trees}"
    fields = "\n".join(f'[context.x{number}]\nkind = "boolean"' for number in range(N_VARIABLES))
    project = folder / "load.toml"
    project.write_text(
        f"""
[actions]
names = {list(ACTIONS)}
[forest]
{trees}
{rules}
[storage]
folder = "data"
snapshot_events = 1_000_000_000
snapshot_seconds = 1e9
[limits]
waiting_events = 10_000_000
{fields}
"""
    )
    return project


def fsync_seconds(folder: Path) -> float:
    """Return the median time that the disk needs to write a page durably."""
    times = []
    with (folder / "probe").open("wb") as file:
        for _ in range(50):
            file.write(b"x" * 4096)
            began = time.perf_counter()
            file.flush()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return sorted(times)[len(times) // 2]


if __name__ == "__main__":
    main()
