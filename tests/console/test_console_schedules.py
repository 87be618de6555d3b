"""The console shows schedules and changes them."""

from playwright.sync_api import Page, expect

from minutehand import Database, NewJob, schedules
from minutehand.queries.jobs import list_jobs
from tests.console.conftest import Serve


def test_schedule_is_paused_resumed_and_run_now(page: Page, serve: Serve, db: Database) -> None:
    schedules.save(
        db, schedules.Schedule("every monday/8", "0 8 * * mon", NewJob("report"), zone="Europe/Berlin")
    )
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    page.get_by_role("link", name="Schedules").click()
    row = page.locator("#schedule-rows tr")
    expect(row).to_contain_text("0 8 * * mon")

    row.get_by_role("button", name="pause").click()
    expect(row).to_contain_text("paused")
    assert schedules.get(db, "every monday/8").paused

    row.get_by_role("button", name="resume").click()
    expect(row.get_by_role("button", name="pause")).to_be_visible()
    assert not schedules.get(db, "every monday/8").paused

    row.get_by_role("button", name="run").click()
    expect(page.locator("#job-title")).to_have_text("report · due")
    (job,) = list_jobs(db).rows
    assert job.schedule == "every monday/8"


def test_page_without_schedules_explains_how_to_add_one(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console#schedules")

    expect(page.locator("#no-schedules")).to_contain_text("minutehand schedules put")
    expect(page.locator("#jobs")).to_be_hidden()
