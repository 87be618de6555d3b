"""Every page at three widths, light and dark: nothing overflows, and axe finds no violation."""

from itertools import cycle, product

import pytest
from playwright.sync_api import Page

from minutehand import Database
from minutehand.queries.jobs import list_jobs
from tests.console.checks import VIEWS, faults_of, show
from tests.console.conftest import Serve
from tests.console.examples import enqueue_examples, enqueue_hostile, name_hostile
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
def test_every_page_is_accessible_and_fits_the_screen(page: Page, serve: Serve, db: Database) -> None:
    enqueue_examples(db)
    enqueue_hostile(db)
    name_hostile(db)
    url = f"{serve(MINUTEHAND_LOCAL='1')}/console"
    paths = [*PAGES, *(f"/jobs/{row.id}" for row in list_jobs(db).rows)][: amount(18, 100)]
    faults = {}
    views = product(VIEWS, paths) if THOROUGH else zip(cycle(VIEWS[:2]), paths, strict=False)
    for (width, scheme), path in views:
        show(page, url + path, width, scheme)
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
