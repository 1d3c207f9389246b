"""The page as its reader sees it, for tests in a real browser."""

from __future__ import annotations

import shutil

import pytest

pytest.importorskip("selenium", reason="the page is driven by selenium, of the extra 'dev'")

from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

__all__ = ["CHROMIUM", "DRIVER", "Page", "needs_browser"]

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
_STALE = (NoSuchElementException, StaleElementReferenceException)

needs_browser = [
    pytest.mark.slow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs the Debian packages chromium and chromium-driver"),
]


class Page:
    """The page as its reader sees it."""

    def __init__(self, browser, address: str) -> None:
        self.browser = browser
        self.address = address

    def open(self) -> Page:
        self.browser.get(self.address)
        return self

    def all(self, selector: str):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return self.one(selector).text

    def run(self, script: str):
        return self.browser.execute_script(f"return {script}")

    def call(self, module: str, function: str, *arguments):
        """Call a function of the page."""
        script = "const [from, name, given, tell] = arguments; import(from).then(it => tell(it[name](...given)), tell)"
        return self.browser.execute_async_script(script, module, function, arguments)

    def wait(self, condition, why: str) -> None:
        def holds(_) -> bool:
            return bool(condition())

        WebDriverWait(self.browser, 20, 0.05, ignored_exceptions=_STALE).until(holds, why)

    def wait_until_live(self) -> Page:
        self.wait(lambda: self.text("#connection") == "live", "the page never came to life")
        return self

    def send_key(self, key: str) -> None:
        self.wait(lambda: self.one("#door").get_property("open"), "no key is asked for")
        self.one("#key").send_keys(key, Keys.ENTER)

    def complaints(self) -> list[str]:
        """What the browser has written into its console since it was last asked."""
        return [entry["message"] for entry in self.browser.get_log("browser")]
