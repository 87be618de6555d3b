"""The screenshots of the documentation; `make docs/screenshots` saves them."""

import os
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import Page, expect

from minutehand import Database, NewJob, enqueue, enqueue_many
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from tests.console.conftest import Serve

# Read at import, because each test starts without these variables.
FOLDER = os.environ.get("MINUTEHAND_TEST_SCREENSHOTS")


def run_one(db: Database, outcome: Done | Failed) -> None:
    (job,) = take(db, "default", 1, timedelta(minutes=1), timedelta(seconds=2))
    finish(job, outcome)


def enqueue_examples(db: Database) -> None:
    enqueue("invoice.send", {"invoice": 1001}, connection=db)
    run_one(db, Done('{"message_id": "m-1001"}'))
    enqueue("report.build", {"week": 46}, connection=db)
    run_one(db, Failed({"type": "KeyError", "message": "'total'"}, final=True))
    enqueue("card.charge", {"order": 77}, max_attempts=5, connection=db)
    run_one(db, Failed({"type": "ConnectTimeout", "message": "no response within 5 s"}))
    waiting = [
        NewJob("welcome", {"email": "ada@example.com"}, key="welcome/ada", delay=timedelta(days=3)),
        NewJob("reminder", {"customer": 4}, key="reminder/4", delay=timedelta(hours=8), priority=2),
        NewJob("report.build", {"week": 47}, every="0 8 * * mon", zone="Europe/Berlin", key="report"),
    ]
    list(enqueue_many(waiting, connection=db))


def test_console_shows_the_example_jobs(page: Page, serve: Serve, db: Database, tmp_path: Path) -> None:
    enqueue_examples(db)
    page.set_viewport_size({"width": 1280, "height": 640})

    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")

    expect(page.locator("#rows tr")).to_have_count(6)
    page.screenshot(path=Path(FOLDER or tmp_path) / "console.png")
