"""A headless browser from this machine."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests import servers

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Open it, for a fixture that lasts no longer than the tests of its own folder.

    While it is open, its event loop runs in this thread, and what wants one of its own (Mangum, in the tests of the
    API) is refused.
    """
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        servers.missing("chromium", "no Chromium is installed")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()
