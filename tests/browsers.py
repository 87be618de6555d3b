"""A headless browser from this machine."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests import servers

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Open the browser, for a fixture whose scope is a folder of tests.

    Its event loop runs in this thread, so code that starts another one (Mangum, in the tests of the API) fails
    while the browser is open.
    """
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        servers.missing("chromium", "no Chromium is installed")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()
