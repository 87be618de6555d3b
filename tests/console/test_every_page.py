"""Every page at three widths, light and dark: nothing overflows, and axe finds no violation."""

from itertools import cycle, product
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from minutehand import Database
from minutehand.queries.jobs import list_jobs
from tests.console.conftest import Serve
from tests.console.examples import enqueue_examples, enqueue_hostile
from tests.thorough import THOROUGH, amount

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf-8")
RUN = "async () => (await axe.run()).violations.map(v => [v.id, v.nodes.slice(0, 3).map(n => n.html)])"
# An ordinary run opens each page once, alternately in the first two: narrow and dark, wide and light.
VIEWS = [(320, "dark"), (1280, "light"), (768, "light"), (768, "dark"), (320, "light"), (1280, "dark")]
PAGES = (
    "",
    "/jobs",
    "/jobs?state=dead&kind=mail.send",
    "/failures",
    "/queues",
    "/schedules",
    "/schedules?name=weekly+report",
    "/batches",
    "/audit",
    "/system",
    "/nowhere",
)


@pytest.mark.thorough
def test_every_page_is_accessible_and_fits_the_screen(page: Page, serve: Serve, db: Database) -> None:
    enqueue_examples(db)
    enqueue_hostile(db)
    url = f"{serve(MINUTEHAND_LOCAL='1')}/console"
    paths = [*PAGES, *(f"/jobs/{row.id}" for row in list_jobs(db).rows)][: amount(13, 100)]
    faults = {}
    views = product(VIEWS, paths) if THOROUGH else zip(cycle(VIEWS[:2]), paths, strict=False)
    for (width, scheme), path in views:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce")
        page.goto(url + path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator(".skeleton")).to_have_count(0)
        if found := faults_of(page):
            faults[f"{path} at {width} px, {scheme}"] = found
    assert faults == {}


def faults_of(page: Page) -> list[object]:
    """Return the violations that axe finds, and the page's width if it is wider than the screen."""
    # Through the developer tools, because the page's policy allows no other script.
    page.evaluate(AXE)
    found: list[object] = page.evaluate(RUN)
    width = page.evaluate("document.documentElement.scrollWidth")
    return found if width <= page.evaluate("innerWidth") else [*found, f"its width is {width} px"]
