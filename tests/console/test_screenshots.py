"""The screenshots of the documentation, of each page that it describes; `make docs/screenshots` saves them."""

import os
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import Page, expect

from minutehand import Database, NewJob, batch, enqueue, schedules
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.model.worker import Worker
from minutehand.operations.controls import limit
from minutehand.operations.jobs import cancel
from minutehand.queries.jobs import list_jobs
from tests.console.conftest import Serve
from tests.console.examples import MINUTE, enqueue_examples, run_one
from tests.flow.stage import ROOT

# Read at import, because each test starts without these variables.
FOLDER = os.environ.get("MINUTEHAND_TEST_SCREENSHOTS")
# The files, their pages with the ids of jobs by kind, and what a page shows when it is complete.
SHOTS = {
    "console-home": ("", ".attention li"),
    "console": ("/jobs", "tbody tr"),
    "console-job": ("/jobs/{card.charge}", ".attempts li"),
    "console-queues": ("/queues", "tbody tr"),
    "console-failures": ("/failures", "tbody tr"),
    "console-schedules": ("/schedules", "tbody tr"),
    "console-schedule": ("/schedules?name=weekly+report", "tbody tr"),
    "console-batches": ("/batches", "tbody tr"),
    "console-audit": ("/audit", "tbody tr"),
    "console-system": ("/system", "tbody tr"),
}


def enqueue_everything(db: Database) -> dict[str, str]:
    """Enqueue the examples, a batch, causes of failures, and changes; return the id of one job of each kind."""
    enqueue_examples(db)
    limit(db, 2, queue="default", kind="report.build", reason="its database is small", actor="ada")
    with batch(name="import of customers", connection=db) as jobs:
        for number in range(8):
            jobs.enqueue("customer.import", {"n": number}, queue="imports")
    for seconds in range(5):
        worker = Worker("shop-worker", version="42" if seconds else "41")
        (job,) = take(db, "imports", 1, MINUTE, MINUTE, worker=worker)
        failed = Failed({"type": "TimeoutError", "message": f"no answer in {seconds} s"}, final=True)
        finish(job, failed if seconds in (2, 3) else Done("{}"))
    schedules.save(db, schedules.Schedule("cleanup", "PT6H", NewJob("cleanup"), zone="UTC"))
    schedules.run_now(db, "weekly report", actor="ada")
    enqueue("survey", queue="mail", delay=timedelta(days=1), connection=db)
    run_one(db, Done("{}"))
    cancelled = next(row for row in list_jobs(db).rows if row.kind == "reminder")
    cancel(db, [cancelled.id], "the customer called", actor="bob")
    with db.transaction() as connection:
        connection.execute("update minutehand.dispatcher set capacity = 50, ticked = now(), since = now()")
    return {row.kind: str(row.id) for row in list_jobs(db, limit=100).rows}


def test_every_page_shows_its_examples(page: Page, serve: Serve, db: Database, tmp_path: Path) -> None:
    ids = enqueue_everything(db)
    url = f"{serve(MINUTEHAND_LOCAL='1')}/console"
    for name, (path, shown) in SHOTS.items():
        page.set_viewport_size({"width": 1280, "height": 760})
        for kind, id in ids.items():
            path = path.replace(f"{{{kind}}}", id)
        page.goto(url + path)
        expect(page.locator(shown).first).to_be_visible()
        expect(page.locator(".skeleton")).to_have_count(0)
        page.screenshot(path=Path(FOLDER or tmp_path) / f"{name}.png")


def test_documentation_shows_each_screenshot() -> None:
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md"))
    folder = ROOT / "docs" / "images"

    assert {path.stem for path in folder.glob("console*.png")} == {*SHOTS}
    assert [name for name in SHOTS if f"images/{name}.png" not in pages] == []
