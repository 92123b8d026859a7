"""A real browser for tests of pages: Chromium without a window, through its driver.

Does: start one, and wait for facts of a page. Does not: load anything; a test skips where no Chromium is installed.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests.support.live_service import until

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@contextmanager
def chromium(folder: Path) -> Iterator[Chrome]:
    """A browser with its profile and its downloads in `folder`. It reaches no name but this machine's."""
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("no Chromium")
    options = ChromeOptions()
    options.binary_location = binary
    rules = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
    for flag in (*FLAGS, rules, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = Chrome(options=options, service=ChromeService(driver))
    try:
        resize(browser, 1440, 900)
        yield browser
    finally:
        browser.quit()


def resize(browser: Chrome, width: int, height: int) -> None:
    """Give the page this many CSS pixels."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def at(browser: Chrome, name: str) -> WebElement:
    """The element with an id."""
    return browser.find_element(By.ID, name)


def shown(browser: Chrome, selector: str) -> list[str]:
    """The texts of the visible elements of a selector, read at one moment of a page that may change."""
    script = (
        "return [...document.querySelectorAll(arguments[0])]"
        ".filter((found) => found.checkVisibility()).map((found) => found.innerText ?? '')"
    )
    return [str(text) for text in browser.execute_script(script, selector)]


def failures(browser: Chrome) -> list[Any]:
    """What the browser logged as an error since the last call, but for requests that a server refused."""
    entries: list[Any] = browser.get_log("browser")
    return [each for each in entries if each["level"] == "SEVERE" and each["source"] != "network"]


def when(fact: Callable[[], Any]) -> None:
    """Wait for a fact of a page that is being changed."""

    def holds() -> bool:
        try:
            return bool(fact())
        except StaleElementReferenceException:
            return False

    until(holds)
