"""The commands of the service: what they write, print and refuse."""

from __future__ import annotations

import json
import random
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pyarrow.parquet
import pytest
from offered_projects import context, offer, write_offered_project
from projects import Decider
from running import CONTEXT, ENVIRONMENT, KEYS, Running, write_project

from bandit_forest import Bandit, PairBandit
from bandit_forest.bandit import BooleanFeature, CategoricalFeature, NumericFeature
from bandit_forest.cli import main
from bandit_forest.client import Client
from bandit_forest.service.config.project_file import load_project

ROOT = Path(__file__).parents[2]
LEARNED = """
[project]
warm_up_events = 30
[context.age]
kind = "numeric"
missing = true
[context.member]
kind = "boolean"
missing = true
[offered.price]
kind = "numeric"
missing = true
[offered.kind]
kind = "categorical"
missing = true
[forest]
n_trees = 5
"""


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process; return what it printed, or the line that it ends with."""

    def command(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["bandit-forest", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code if ended.value.code else capsys.readouterr().out

    return command


@pytest.fixture
def used(tmp_path):
    """Return a project with a few events."""
    project = write_project(tmp_path)
    decider = Decider.open(load_project(project))
    for number in range(5):
        decider.decide(CONTEXT, event_id=f"e{number}")
    decider.reward("e0", 1.0).commit.result()
    decider.close()
    return project


def test_init_writes_a_project_that_can_be_served_and_never_over_another(run, tmp_path):
    project = tmp_path / "offers.toml"
    assert str(project) in run("init", project)
    assert load_project(project).name == "offers"
    assert "cannot be written" in run("init", project)
    assert "cannot be written" in run("init", tmp_path / "nowhere" / "offers.toml")


def test_init_writes_a_project_of_offered_actions_that_ranks_at_once(run, tmp_path):
    project = tmp_path / "articles.toml"
    assert str(project) in run("init", "--offered", project)
    context = {"age": 42, "country": "FR", "member": True}
    actions = [{"id": n, "price": 5.5 * n, "kind": "phone", "reduced": n == 1} for n in range(3)]
    with Running(project) as service:
        ranked = service.post("/v1/rank", {"context": context, "actions": actions})
        assert {one["id"] for one in ranked["ranking"]} == {0, 1, 2}
        service.post("/v1/reward", {"event_id": ranked["event_id"], "reward": 1})
    assert "byte for byte" in run("verify", project)


def test_serve_refuses_a_wrong_project_with_its_line(run, tmp_path):
    project = write_project(tmp_path)
    project.write_text(project.read_text().replace("n_trees = 5", "n_tres = 5"))
    line = project.read_text().splitlines().index("n_tres = 5") + 1
    assert f"line {line}" in run("serve", project)
    assert "bandit-forest init" in run("serve", tmp_path / "absent.toml")


def test_serve_refuses_a_port_that_is_taken(run, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        told = run("serve", write_project(tmp_path), "--port", taken.getsockname()[1])
    assert "--port" in told


def test_serve_refuses_a_folder_that_another_service_uses(run, tmp_path):
    project = write_project(tmp_path)
    with Running(project):
        assert "no other service" in run("serve", project, "--port", 0)


def test_export_writes_a_row_an_event(run, used, tmp_path):
    assert run("export", tmp_path / "events.parquet", used) == "Events written: 5\n"
    assert pyarrow.parquet.read_table(tmp_path / "events.parquet")["event_id"].to_pylist()[0] == "e0"


def test_backup_makes_a_folder_that_goes_on(run, tmp_path):
    project = write_project(tmp_path)
    with Running(project) as service:
        decision = service.post("/v1/decide", {"context": CONTEXT, "event_id": "kept"})
        run("backup", tmp_path / "copy", project)
    project.write_text(project.read_text().replace('folder = "data"', 'folder = "copy"'))
    with Running(project) as service:
        assert service.post("/v1/decide", {"context": CONTEXT, "event_id": "kept"}) == decision


def test_backup_refuses_a_damaged_journal_in_one_sentence(run, used, tmp_path):
    (journal,) = (used.parent / "data").glob("journal-*.sqlite")
    whole = journal.read_bytes()
    journal.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    assert "damaged" in run("backup", tmp_path / "copy", used)
    journal.write_bytes(whole[:4096] + bytes(len(whole) - 4096))
    assert "damaged" in run("backup", tmp_path / "other", used)


def test_backup_refuses_a_place_that_cannot_be_written(run, used, tmp_path):
    (tmp_path / "file").touch()
    assert "can be made" in run("backup", tmp_path / "file" / "copy", used)


def test_verify_tells_what_is_equal(run, used):
    assert "byte for byte" in run("verify", used)


@pytest.mark.parametrize(
    ("absent", "words", "extra"),
    [
        ("httptools", ["serve"], "service"),
        ("msgspec", ["serve"], "service"),
        ("prometheus_client", ["serve"], "service"),
        ("httpx", ["actions", "list"], "client"),
    ],
)
def test_without_the_extra_the_cure_is_told(tmp_path, absent, words, extra):
    script = f"import sys; sys.modules['{absent}'] = None; from bandit_forest.cli import main; main()"
    command = [sys.executable, "-c", script, *words, str(write_project(tmp_path))]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"pip install 'bandit-forest[{extra}]'" in ended.stderr
    assert ended.returncode == 1


def test_the_extra_of_the_service_brings_what_its_commands_import():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    def brought(name: str) -> set[str]:
        inner = [re.fullmatch(r"bandit-forest\[(.*)\]", one) for one in extras[name]]
        own = {re.split(r"[>=\[]", one)[0] for one in extras[name]} - {"bandit-forest"}
        return own.union(*(brought(other) for found in inner if found for other in found[1].split(",")))

    assert {"typer", "httptools", "msgspec", "prometheus-client", "pyarrow", "httpx"} <= brought("service")
    assert "matplotlib" not in brought("service")  # as README says
    assert "matplotlib" in brought("experiments")


def test_the_package_and_its_command_import_nothing_of_the_service():
    script = "import bandit_forest, bandit_forest.cli, json, sys; print(json.dumps(sorted(sys.modules)))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert {"httptools", "httpx", "msgspec", "prometheus_client", "sqlite3", "uvloop"}.isdisjoint(json.loads(printed))


def test_actions_are_listed_and_changed_from_the_command_line(run, tmp_path, monkeypatch):
    project = write_project(tmp_path, more=KEYS)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with Running(project, environment=ENVIRONMENT) as service:
        project.write_text(project.read_text() + f"[server]\nport = {service.port}\n")
        run("actions", "add", "lead", project)
        run("actions", "disable", "gold", project)
        assert run("actions", "list", project) == "enabled   basic\nenabled   plus\ndisabled  gold\nenabled   lead\n"
        run("actions", "enable", "gold", project)
        assert "disabled" not in run("actions", "list", project)
        assert "no action 'tin'" in run("actions", "disable", "tin", project)


def test_an_address_needs_no_scheme(run, tmp_path):
    project = write_project(tmp_path)
    with Running(project) as service:
        run("actions", "add", "lead", project, "--address", f"localhost:{service.port}")
        for address in (f"127.0.0.1:{service.port}", service.address):
            assert "enabled   lead" in run("actions", "list", project, "--address", address)
    project.write_text(project.read_text() + '[server]\nhost = "::1"\nport = 1\n')
    assert "No service answers at http://[::1]:1 (" in run("actions", "list", project)
    told = run("actions", "list", project, "--address", "localhost:port")
    assert "The 'address' of bandit-forest actions must be an address such as" in told


def test_a_key_that_is_missing_is_named(run, tmp_path, monkeypatch):
    project = write_project(tmp_path, more=KEYS)
    with Running(project, environment=ENVIRONMENT) as service:
        command = ("actions", "list", project, "--address", service.address)
        for _ in range(2):
            told = run(*command)
            assert "needs a key for administration: set it with 'export OFFERS_ADMIN_KEY=...'." in told
            monkeypatch.setenv("OFFERS_ADMIN_KEY", " ")
        monkeypatch.setenv("OFFERS_ADMIN_KEY", "not the key of the service")
        assert "A key of the project is needed" in run(*command)
        project.write_text(project.read_text().replace("env:OFFERS_ADMIN_KEY", f"sha256:{'0' * 64}"))
        assert "name it by 'env:NAME' in [keys].admin" in run(*command)


def test_a_short_key_is_refused_as_the_page_says(run, tmp_path, monkeypatch):
    project = write_project(tmp_path, more=KEYS)
    monkeypatch.setenv("OFFERS_KEY", "x" * 16)
    monkeypatch.setenv("OFFERS_ADMIN_KEY", "y" * 15)
    (told,) = re.findall(r"at least \d+ characters", run("serve", project))
    assert f"Keys have {told}" in " ".join((ROOT / "docs" / "service.md").read_text().split())


def test_actions_that_are_offered_are_not_listed_or_changed(run, tmp_path):
    project = write_offered_project(tmp_path)
    with Running(project) as service:
        project.write_text(project.read_text() + f"[server]\nport = {service.port}\n")
        assert run("actions", "list", project) == ""
        assert "is for projects whose actions are fixed" in run("actions", "add", "lead", project)


def test_a_saved_bandit_of_offered_actions_is_served_and_taken_back(run, tmp_path):
    bandit = PairBandit(warm_up_events=30, forest={"n_trees": 5})
    rng = random.Random(1)
    for _ in range(200):  # its features are learned
        given, offered = context(rng), offer(rng)
        decision = bandit.decide(given, actions=offered)
        taken = next(action for action in offered if action["id"] == decision.action)
        bandit.learn(decision, reward=float((given["age"] >= 50) == ((taken["price"] or 0) >= 10)))
    bandit.save(tmp_path / "saved.bandit")
    project = tmp_path / "articles.toml"
    project.write_text(LEARNED)
    with Running(project, options=["--from", str(tmp_path / "saved.bandit")]) as service:
        assert service.get("/v1/status")["model_version"] == 200
        given, offered = context(rng), offer(rng)
        with Client(service.address) as client:
            for number in range(20):
                event = client.rank(given, actions=offered, event_id=f"e{number}")
                assert event.action == bandit.decide(given, actions=offered, key=f"e{number}").action
            client.reward("e0", 1.0)
    with Running(project) as service:  # and the folder goes on without it
        again = PairBandit.from_bytes(service.http.get("/v1/model").content)
    assert again.version == 201
    assert "byte for byte" in run("verify", project)
    again.save(tmp_path / "later.bandit")
    assert "leave out --from to go on with it" in run("serve", project, "--from", tmp_path / "later.bandit")


def test_a_saved_bandit_that_is_not_there_is_told_in_one_sentence(run, tmp_path):
    project = write_offered_project(tmp_path)
    assert "'nothing' cannot be read" in run("serve", project, "--from", "nothing")
    assert not (tmp_path / "data").exists()


def test_a_service_that_does_not_run_is_told_in_one_sentence(run, tmp_path):
    project = write_project(tmp_path, more="[server]\nport = 1\n")
    for words in (("list",), ("add", "lead"), ("disable", "gold")):
        assert "No service answers at http://127.0.0.1:1" in run("actions", *words, project)


def test_a_saved_bandit_of_the_other_kind_is_refused(run, tmp_path):
    Bandit(actions=["a", "b"], features={"age": NumericFeature(thresholds=(1,))}).save(tmp_path / "fixed.bandit")
    project = write_offered_project(tmp_path)
    assert "does not hold a PairBandit" in run("serve", project, "--from", tmp_path / "fixed.bandit")


def test_a_saved_bandit_is_served_and_taken_back(run, tmp_path):
    bandit = Bandit(
        actions=["basic", "plus", "gold"],
        capacity=6,
        warm_up_events=1000,
        forest={"n_trees": 5},
        features={
            "age": NumericFeature(edges=(30, 50), missing=True),
            "city": CategoricalFeature(values=("Lannion", "Paris")),
            "member": BooleanFeature(),
        },
    )
    for _ in range(20):
        bandit.learn(bandit.decide(CONTEXT), reward=1.0)
    bandit.save(tmp_path / "offers.bandit")
    project = write_project(tmp_path)
    begin = ["--from", str(tmp_path / "offers.bandit")]
    with Running(project, options=begin) as service:
        assert service.get("/v1/status")["model_version"] == 20
        decision = service.post("/v1/decide", {"context": CONTEXT})
        assert decision["action"] == bandit.decide(CONTEXT).action
        service.post("/v1/reward", {"event_id": decision["event_id"], "reward": 1})
    with Running(project, options=begin) as service:  # the same command goes on
        again = Bandit.from_bytes(service.http.get("/v1/model").content)
    assert again.version == 21
    assert "byte for byte" in run("verify", project)
