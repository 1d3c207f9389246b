"""The page in a real browser, of a real service."""

from __future__ import annotations

import random
import resource
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from page import Page, needs_browser
from running import ADMIN_KEY, ENVIRONMENT, KEY, KEYS, Running, write_project

pytestmark = needs_browser

NASTY = "<img src=x onerror=document.title='broken'>"


def play(service: Running, n_batches: int, key: str | None = None) -> None:
    """Decide and reward; members want gold, the others basic. One event of each batch goes on waiting."""
    rng = random.Random(1)
    for _ in range(n_batches):
        contexts = [
            {"age": rng.randint(18, 80), "city": rng.choice(["Lannion", "Paris"]), "member": rng.random() < 0.5}
            for _ in range(100)
        ]
        body = {"events": [{"context": context} for context in contexts]}
        decisions = service.post("/v1/decide/batch", body, key=key)["decisions"]
        wanted = ["gold" if context["member"] else "basic" for context in contexts]
        rewards = [
            {"event_id": decision["event_id"], "reward": float(decision["action"] == action)}
            for decision, action in zip(decisions[:-1], wanted, strict=False)
        ]
        service.post("/v1/reward/batch", {"rewards": rewards}, key=key)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Running(write_project(tmp_path_factory.mktemp("offers"))) as running:
        running.post("/v1/actions/add", {"name": NASTY})
        play(running, 10)
        yield running


@pytest.fixture
def page(service, browser):
    yield Page(browser, service.address).open().wait_until_live()
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_it_shows_how_the_service_is_doing(page, service):
    status = service.get("/v1/status")
    tiles = dict(zip([tile.text for tile in page.all(".tile h2")], page.all(".tile"), strict=True))
    assert f"{status['average_reward']:.3f}" in tiles["Average reward"].text
    assert f"uniform play, {status['uniform_value']:.3f}" in tiles["Average reward"].text
    assert f"{status['decisions']:,}" in tiles["Decisions"].text
    assert f"{status['waiting']:,}" in tiles["Waiting rewards"].text
    assert f"{status['model_version']:,}" in tiles["Events learned"].text
    assert page.text("#name") == "offers"
    assert page.browser.title == "offers · Bandit Forest"
    assert [row.text for row in page.all("#actions tbody th")] == ["basic", "plus", "gold", NASTY]


def test_it_tells_whether_it_is_worth_it(page, service):
    page.wait(lambda: page.all("#evaluation td"), "no evaluation")
    (uniform,) = service.get("/v1/evaluation")["policies"]
    assert page.text("#evaluation .verdict") == uniform["verdict"]
    cells = [cell.text for cell in page.all("#evaluation td")]
    assert f"{uniform['value']:.3f} ({uniform['low']:.3f} to {uniform['high']:.3f})".replace("-", "−") == cells[0]
    assert cells[-1] == f"{round(uniform['effective_sample_size']):,} of {uniform['events']:,}"


def test_it_draws_decisions_by_action(page):
    legend = [entry.text.split("\n")[0].rsplit(" ", 1)[0] for entry in page.all("#decisions .legend li")]
    assert legend[0].startswith("basic")
    assert page.all("#decisions rect.colour-0")
    assert page.all("#decisions rect.colour-2")


def test_merging_the_past_loses_nothing(page):
    rng = random.Random(3)
    numbers = sorted(rng.sample(range(500), 200))
    history = [
        {
            "time": 1000.0 + 10 * number,
            "seconds": 10.0,
            "decisions": {"a": rng.randint(0, 9), "b": rng.randint(0, 9)},
            "rewards": rng.randint(0, 9),
            "average_reward": rng.random(),
            "uniform_weight": rng.random(),
            "uniform_value": rng.random(),
        }
        for number in numbers
    ]
    merged = page.call("/history.js", "stretches", history, 30)
    assert len(merged) <= 30
    assert all(after["time"] - before["time"] >= before["seconds"] for before, after in pairwise(merged))
    for action in "ab":
        taken = sum(stretch["decisions"].get(action, 0) for stretch in merged)
        assert taken == sum(moment["decisions"][action] for moment in history)
    assert sum(stretch["rewards"] for stretch in merged) == sum(moment["rewards"] for moment in history)
    weights = sum(moment["uniform_weight"] for moment in history)
    uniform = sum(moment["uniform_weight"] * moment["uniform_value"] for moment in history) / weights
    assert page.call("/history.js", "uniformValues", merged)[-1] == pytest.approx(uniform)


def test_an_action_may_be_named_like_what_every_object_has(page):
    moment = {"seconds": 10.0, "rewards": 0, "average_reward": None, "uniform_weight": 0, "uniform_value": None}
    history = [moment | {"time": time, "decisions": {"constructor": 2}} for time in (0.0, 10.0)]
    (stretch,) = page.call("/history.js", "stretches", history, 1)
    assert stretch["decisions"] == {"constructor": 4}


def test_of_many_actions_those_chosen_most_are_told_apart(page):
    actions = [{"name": str(place), "decisions": 10 * place} for place in range(16)]
    groups = page.call("/history.js", "groups", actions)
    assert [group["label"] for group in groups] == ["9", "10", "11", "12", "13", "14", "15", "others"]
    assert sorted(name for group in groups for name in group["names"]) == sorted(str(place) for place in range(1, 16))


def test_it_names_the_variable_that_matters(page):
    page.wait(lambda: page.all("#importance li"), "no variables")
    assert page.text("#importance li .name") == "member"


def test_it_shows_the_trees(page):
    page.wait(lambda: page.run("document.querySelector('#tree img')?.naturalWidth > 100"), "no tree")
    assert not page.one("#before").is_enabled()
    for number in range(1, 5):
        page.one("#after").click()
        page.wait(lambda n=number: page.one("#tree img").get_attribute("alt").startswith(f"Tree {n}:"), "no next tree")
    page.one("#after").click()
    page.wait(lambda: page.text("#tree") == "There are trees 0 to 4.", "a tree too many")
    assert not page.one("#after").is_enabled()


def test_a_decision_tells_why(page, service):
    event = service.get("/v1/recent")["events"][1]
    page.wait(lambda: page.all("#recent summary"), "no decisions")
    page.all("#recent summary")[1].click()
    page.wait(lambda: page.all("#recent .explanation table"), "no explanation")
    told = page.text("#recent .explanation")
    assert f"Event {event['event_id']}" in told
    assert f"It earned {event['reward']:.3f}." in told
    assert "Tested most on the paths of 5 trees" in told
    assert any(test.text.split("\n")[0].startswith("member") for test in page.all("#recent .tests li"))


def test_the_list_stands_still_while_it_is_read(page, service):
    page.wait(lambda: page.all("#recent summary"), "no decisions")
    page.one("#recent summary").click()
    read = page.text("#recent summary")
    decisions = service.get("/v1/status")["decisions"]
    play(service, 1)
    page.wait(lambda: f"{decisions + 100:,}" in page.text("#tiles"), "no news")
    assert page.text("#recent summary") == read
    assert page.one("#paused").is_displayed()
    page.one("#recent summary").click()
    page.wait(lambda: not page.one("#paused").is_displayed(), "it stands still for ever")


def test_it_is_live(page, service):
    decisions = service.get("/v1/status")["decisions"]
    play(service, 2)
    page.wait(lambda: f"{decisions + 200:,}" in page.text("#tiles"), "the page does not follow")


def test_names_are_never_markup(page):
    page.wait(lambda: page.all("#importance li"), "not everything is shown")
    assert page.all("main img[onerror]") == []
    assert page.browser.title == "offers · Bandit Forest"


def test_it_needs_nobody_else_and_complains_of_nothing(service, browser):
    page = Page(browser, service.address)
    page.complaints()
    page.open().wait_until_live()
    page.wait(lambda: page.all("#importance li") and page.all("#tree img"), "not everything is shown")
    asked = page.run("performance.getEntriesByType('resource').map(entry => entry.name)")
    hosts = {urlsplit(name.removeprefix("blob:")).netloc for name in asked}
    assert hosts == {urlsplit(service.address).netloc}
    assert page.complaints() == []


DRAW = """
const [status, done] = arguments;
import("/charts.js").then((charts) => {
  const place = document.createElement("div");  // not on the page: it has no width
  charts.rewardChart(place, status);
  charts.decisionsChart(place, status);
  done(place.textContent);
}).catch((error) => done("failed: " + error));
"""


def test_charts_that_are_not_shown_yet_are_drawn_without_an_error(page, service):
    status = service.get("/v1/status")
    moment = dict(status["history"][-1], rewards=10, average_reward=0.5, uniform_weight=1.0, uniform_value=0.5)
    nearly = [moment | {"time": 10.0 * n, "average_reward": 0.5 + n * 1e-16, "uniform_value": 0.5} for n in range(5)]
    for history in (status["history"], nearly):
        told = page.browser.execute_async_script(DRAW, status | {"history": history})
        assert not told.startswith("failed"), told
        assert "NaN" not in told


@pytest.mark.parametrize("width", [320, 390, 768])
def test_it_fits_on_a_phone(page, width):
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.open().wait_until_live()
    page.wait(lambda: page.all("#importance li") and page.all("#recent summary"), "not everything is shown")
    page.one("#recent summary").click()
    page.wait(lambda: page.all("#recent .explanation table"), "no explanation")
    assert page.run("document.documentElement.scrollWidth") == width


def test_it_is_dark_where_the_reader_wants_it(page):
    def brightness() -> int:
        colour = page.run("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))

    for scheme, is_right in (("dark", lambda light: light < 150), ("light", lambda light: light > 600)):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        assert is_right(brightness())


def test_it_says_when_nobody_answers(tmp_path, browser):
    with Running(write_project(tmp_path)) as short_lived:
        page = Page(browser, short_lived.address).open().wait_until_live()
        assert page.text("#recent") == "No decisions yet."
    page.wait(lambda: page.text("#connection").startswith("no answer"), "silence is not noticed")


def test_it_tells_that_bins_are_learned(tmp_path, browser):
    learned = "warm_up_events = 50"
    more = '[context.basket]\nkind = "numeric"\nbins = 3\n'
    with Running(write_project(tmp_path, project=learned, more=more)) as young:
        page = Page(browser, young.address).open().wait_until_live()
        assert page.text("#news").startswith("Warming up: 50 more lessons are needed")
        assert "The forest is made after 50 more lessons" in page.text("#importance")


def test_it_raises_the_alarm_when_the_disk_is_full(tmp_path, browser):
    with Running(write_project(tmp_path, storage='full_disk = "continue"')) as full:
        page = Page(browser, full.address).open().wait_until_live()
        assert not page.one("#alarm").is_displayed()
        soft, hard = resource.prlimit(full.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(full.process.pid, resource.RLIMIT_FSIZE, (1, hard))
        play(full, 1)
        page.wait(lambda: page.text("#alarm").startswith("The journal cannot be written"), "no alarm")
        resource.prlimit(full.process.pid, resource.RLIMIT_FSIZE, (soft, hard))
        page.wait(lambda: not page.one("#alarm").is_displayed(), "the alarm goes on")


def test_it_shows_what_the_forest_would_have_done(tmp_path, browser):
    with Running(write_project(tmp_path, project='mode = "shadow"')) as shadow:
        context = {"age": 42, "city": "Paris", "member": True}
        decision = shadow.post("/v1/decide", {"context": context, "action": "plus", "propensity": 0.5})
        page = Page(browser, shadow.address).open().wait_until_live()
        assert page.text("#mode") == "shadow mode"
        page.one("#recent summary").click()
        would = f"The forest would have chosen {decision['forest_action']}."
        page.wait(lambda: would in page.text("#recent .explanation"), "the forest's choice is not told")


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    project = write_project(tmp_path_factory.mktemp("locked"), more=KEYS)
    with Running(project, environment=ENVIRONMENT) as running:
        play(running, 1, key=KEY)
        yield running


def test_it_asks_for_the_key(locked, browser):
    page = Page(browser, locked.address).open()
    page.wait(lambda: page.one("#door").get_property("open"), "no key is asked for")
    assert not page.one("main").is_displayed()
    page.send_key("a wrong one")
    page.wait(lambda: "key of the project is needed" in page.text("#door-reason"), "a wrong key is taken")
    page.send_key(KEY)
    page.wait(lambda: "key for administration" in page.text("#door-reason"), "a key for deciding is taken")
    page.send_key(ADMIN_KEY)
    page.wait_until_live()
    assert page.one("main").is_displayed()
    assert page.run("Object.values(sessionStorage)") == [ADMIN_KEY]
    assert page.run("localStorage.length + document.cookie.length") == 0
    page.open().wait_until_live()  # the tab remembers
    page.one("#forget").click()
    page.wait(lambda: page.one("#door").get_property("open"), "the key is not forgotten")
    assert page.run("sessionStorage.length") == 0
