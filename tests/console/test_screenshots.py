"""The screenshots of the documentation; `make docs/screenshots` saves them."""

import os
from pathlib import Path

from playwright.sync_api import Page, expect

from minutehand import Database
from minutehand.queries.jobs import list_jobs
from tests.console.conftest import Serve
from tests.console.examples import enqueue_examples

# Read at import, because each test starts without these variables.
FOLDER = os.environ.get("MINUTEHAND_TEST_SCREENSHOTS")


def test_console_shows_the_example_jobs(page: Page, serve: Serve, db: Database, tmp_path: Path) -> None:
    enqueue_examples(db)
    failed = next(row for row in list_jobs(db).rows if row.kind == "card.charge")
    url = f"{serve(MINUTEHAND_LOCAL='1')}/console"
    folder = Path(FOLDER or tmp_path)

    page.set_viewport_size({"width": 1280, "height": 760})
    page.goto(f"{url}/jobs")
    expect(page.locator("tbody tr")).to_have_count(10)
    page.screenshot(path=folder / "console.png")

    page.goto(f"{url}/jobs/{failed.id}")
    expect(page.locator(".attempts li")).to_have_count(1)
    page.screenshot(path=folder / "console-job.png")
