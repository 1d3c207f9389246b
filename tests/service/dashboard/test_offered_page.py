"""The page of a service whose events offer their own actions, in a real browser."""

from __future__ import annotations

import random

import pytest
from offered_projects import context, offer, write_offered_project
from page import Page, needs_browser
from running import Running

pytestmark = needs_browser

NASTY = "<img src=x onerror=document.title='broken'>"
FIXED_ONLY, OFFERED_ONLY = ".of-fixed", ".of-offered"


def play(service: Running, n_events: int, *, start: int = 0) -> None:
    """Rank and reward; older visitors want what is dear. The last event of ten goes on waiting."""
    rng = random.Random(start)
    for number in range(start, start + n_events):
        given, offered = context(rng), [*offer(rng), {"id": NASTY, "price": 1, "kind": "case"}]
        body = {"event_id": f"e{number}", "context": given, "actions": offered}
        ranked = service.post("/v1/rank", body)
        taken = next(action for action in offered if action["id"] == ranked["action"])
        liked = (given["age"] >= 50) == ((taken["price"] or 0) >= 10)
        if number % 10 < 9:
            service.post("/v1/reward", {"event_id": f"e{number}", "reward": float(liked)})


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Running(write_offered_project(tmp_path_factory.mktemp("offered"))) as running:
        play(running, 1200)
        yield running


@pytest.fixture
def page(service, browser):
    yield Page(browser, service.address).open().wait_until_live()
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_what_is_for_fixed_actions_is_left_out(page):
    assert page.all(FIXED_ONLY)
    assert not any(one.is_displayed() for one in page.all(FIXED_ONLY))
    assert all(one.is_displayed() for one in page.all(OFFERED_ONLY))
    titles = [title.text for title in page.all("main section.card h2") if title.is_displayed()]
    assert titles == [
        *("Reward", "Is it worth it?", "Decisions", "What matters", "Propensities"),
        *("Recent decisions", "A tree"),
    ]


def test_it_shows_how_the_service_is_doing(page, service):
    status = service.get("/v1/status")
    tiles = dict(zip([tile.text for tile in page.all(".tile h2")], page.all(".tile"), strict=True))
    assert f"{status['average_reward']:.3f}" in tiles["Average reward"].text
    assert f"{status['decisions']:,}" in tiles["Decisions"].text
    assert f"{status['model_version']:,}" in tiles["Events learned"].text


def test_it_draws_all_decisions_as_one(page, service):
    (entry,) = page.all("#decisions .legend li")
    last = service.get("/v1/status")["history"][-1]["decisions"]["offered"]
    assert entry.text == f"decisions\n{last:,}"
    tallest = max(float(bar.get_attribute("height")) for bar in page.all("#decisions rect"))
    assert tallest > 100


def test_it_shows_with_which_propensities_decisions_were_drawn(page, service):
    rows = dict(row.text.split("\n") for row in page.all("#propensities li"))
    status = service.get("/v1/status")
    sure = status["propensity_counts"][-1] / status["decisions"]
    assert float(rows["0.9 to 1"].removesuffix(" %")) == pytest.approx(100 * sure, abs=0.6)


PROPENSITIES = """
const [status, done] = arguments;
import("/offers.js")
  .then(({ propensityList }) => done([...propensityList(status).children].map((row) => row.textContent)))
  .catch((error) => done("failed: " + error));
"""


def test_merging_propensities_loses_nothing(page, service):
    bounds = service.get("/v1/status")["propensity_bounds"]
    status = {"propensity_bounds": bounds, "propensity_counts": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 45]}
    names = ("0.9 to 1", "0.5 to 0.9", "0.1 to 0.5", "0.01 to 0.1", "0.001 to 0.01", "0 to 0.001")
    shares = ("45 %", "10 %", "17 %", "18 %", "9.0 %", "1.0 %")
    told = page.browser.execute_async_script(PROPENSITIES, status)
    assert told == [name + share for name, share in zip(names, shares, strict=True)]


def test_it_tells_what_matters_by_side(page):
    page.wait(lambda: page.all("#importance li"), "no features")
    assert [title.text for title in page.all("#importance h3")] == ["Of the context", "Of the offered action"]
    first, second = (one.find_element("css selector", ".name").text for one in page.all("#importance ol"))
    assert (first, second) == ("age", "price")


def test_an_event_that_waits_tells_its_ranking_and_why(page, service):
    events = service.get("/v1/recent")["events"]
    place = next(number for number, event in enumerate(events) if event["state"] == "waiting")
    told = service.get(f"/v1/explain/{events[place]['event_id']}")
    page.wait(lambda: page.all("#recent summary"), "no decisions")
    page.all("#recent summary")[place].click()
    page.wait(lambda: page.all("#recent .explanation table"), "no explanation")
    shown = [row.text for row in page.all("#recent .explanation tbody th")]
    assert shown == [str(rank["id"]) for rank in told["ranking"]]
    text = page.text("#recent .explanation")
    assert f"{told['explanation']['best']} is ahead of the second best by its" in text
    assert f"Event {events[place]['event_id']}" in text
    assert "Its reward is awaited." in text
    changes = [(change["test"], str(change["action"])) for change in told["explanation"]["changes"]]
    chips = [chip.text for chip in page.all("#recent .tests li")]
    assert all(any(chip.startswith(test) and chip.endswith(name) for chip in chips) for test, name in changes[:8])


def test_an_event_that_is_over_tells_its_ranking(page, service):
    events = service.get("/v1/recent")["events"]
    place = next(number for number, event in enumerate(events) if event["state"] == "rewarded")
    page.wait(lambda: page.all("#recent summary"), "no decisions")
    page.all("#recent summary")[place].click()
    page.wait(lambda: page.all("#recent .explanation table"), "no explanation")
    text = page.text("#recent .explanation")
    assert "The features of what was offered are forgotten once the event is over." in text
    assert len(page.all("#recent .explanation tbody tr")) == 5
    assert [head.text for head in page.all("#recent .explanation thead th")] == ["ranking", "drawn first"]


RANKING = """
const [told, done] = arguments;
import("/offers.js").then(({ offerExplanation }) => {
  const place = document.createElement("div");
  place.append(...offerExplanation(told));
  done([place.querySelectorAll("tbody tr").length, place.textContent]);
}).catch((error) => done("failed: " + error));
"""


def test_of_many_offered_actions_the_first_are_told(page):
    ranking = [{"id": number, "propensity": 0.02} for number in range(50)]
    told = {"event_id": "e", "state": "waiting", "propensity": 0.02, "model_version": 3}
    n_rows, text = page.browser.execute_async_script(RANKING, told | {"ranking": ranking, "explanation": None})
    assert n_rows == 20
    assert "and 30 more" in text
    assert "The forest is not made yet." in text


def test_it_shows_the_trees(page):
    page.wait(lambda: page.run("document.querySelector('#tree img')?.naturalWidth > 100"), "no tree")
    page.one("#after").click()
    page.wait(lambda: page.one("#tree img").get_attribute("alt").startswith("Tree 1:"), "no next tree")


def test_names_are_never_markup_and_nothing_is_complained_of(service, browser):
    page = Page(browser, service.address)
    page.complaints()
    page.open().wait_until_live()
    page.wait(lambda: page.all("#importance li") and page.all("#tree img"), "not everything is shown")
    assert page.all("main img[onerror]") == []
    assert page.browser.title == "offered · Bandit Forest"
    assert page.complaints() == []


@pytest.mark.parametrize("width", [320, 390, 768])
def test_it_fits_on_a_phone(page, width):
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    page.open().wait_until_live()
    page.wait(lambda: page.all("#importance li") and page.all("#recent summary"), "not everything is shown")
    for number, summary in enumerate(page.all("#recent summary")[:3], 1):
        summary.click()  # what it opens moves the next one, so it is waited for
        page.wait(lambda number=number: len(page.all("#recent .explanation table")) == number, "no explanation")
    assert page.run("document.documentElement.scrollWidth") == width


def test_it_begins_with_nothing_and_says_so(tmp_path, browser):
    learned = write_offered_project(tmp_path, project="warm_up_events = 50")
    learned.write_text(learned.read_text().replace("thresholds = [5, 10, 15]\n", ""))
    with Running(learned) as young:
        page = Page(browser, young.address).open().wait_until_live()
        assert page.text("#news").startswith("Warming up: 50 more lessons are needed")
        assert page.text("#propensities") == page.text("#decisions") == "No decisions yet."
        page.wait(lambda: "The forest is made after 50 more lessons" in page.text("#importance"), "no reason")
        play(young, 1)
        page.wait(lambda: page.all("#recent summary"), "no decisions")
        page.one("#recent summary").click()
        page.wait(lambda: page.all("#recent .explanation table"), "no explanation")
