"""Every page at three widths, light and dark: nothing overflows, and axe finds no violation."""

from itertools import cycle, product

import pytest
from playwright.sync_api import Page

from minutehand import Database
from tests.console.checks import VIEWS, faults_of, show
from tests.console.conftest import Crowd, Serve
from tests.thorough import THOROUGH, amount

PAGES = (
    "",
    "?window=1h",
    "/jobs",
    "/jobs?state=dead&kind=mail.send",
    "/jobs?group=%E2%80%AEgnp.exe%E2%81%A6%D8%9C",
    "/failures",
    "/queues",
    "/schedules",
    "/schedules?name=weekly+report",
    "/schedules?name=%E2%80%AEgnp.exe%E2%81%A6%D8%9C",
    "/batches",
    "/audit",
    "/system",
    "/nowhere",
)


@pytest.mark.thorough
def test_every_page_is_accessible_and_fits_the_screen(page: Page, crowd: Crowd) -> None:
    paths = [*PAGES, *(f"/jobs/{id}" for id in crowd.ids.values())][: amount(18, 100)]
    faults = {}
    views = product(VIEWS, paths) if THOROUGH else zip(cycle(VIEWS[:2]), paths, strict=False)
    for (width, scheme), path in views:
        show(page, crowd.url + path, width, scheme)
        if found := faults_of(page):
            faults[f"{path} at {width} px, {scheme}"] = found
    assert faults == {}


@pytest.mark.thorough
def test_every_empty_page_is_accessible_and_helps(page: Page, serve: Serve, db: Database) -> None:
    url = f"{serve(MINUTEHAND_LOCAL='1')}/console"
    paths = ("", "/jobs", "/failures", "/queues", "/schedules", "/batches", "/audit", "/system")
    faults = {}
    views = product(VIEWS, paths) if THOROUGH else zip(cycle(VIEWS[:2]), paths, strict=False)
    for (width, scheme), path in views:
        show(page, url + path, width, scheme)
        if found := faults_of(page):
            faults[f"{path} at {width} px, {scheme}"] = found
    assert faults == {}
