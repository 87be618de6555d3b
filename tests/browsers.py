"""A headless browser from this machine."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests import servers

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Milliseconds. A busy machine takes seconds for what otherwise takes a moment; the default of `expect` is five.
PATIENCE = 60_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """Open the browser, for a fixture whose scope is a folder of tests.

    Its event loop runs in this thread, so code that starts another one (Mangum, in the tests of the API) fails
    while the browser is open.
    """
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        servers.missing("chromium", "no Chromium is installed")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@contextmanager
def opened_page(browser: Browser, **context: Any) -> Iterator[Page]:
    """Open a page in a context of its own, such as `timezone_id="Asia/Tokyo"`; the default is not this machine's."""
    with browser.new_context(**{"timezone_id": "UTC", **context}) as made:
        made.set_default_timeout(PATIENCE)
        yield made.new_page()
