"""Schedules: their next occurrences in two time zones, firings, and their changes after a preview."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from playwright.sync_api import Browser, Page, expect

from minutehand import Database, NewJob, Retry, schedules
from minutehand.queries.jobs import list_jobs
from tests.browsers import opened_page
from tests.console.conftest import Serve

ROWS = "tbody tr"
NAME = "every monday/8"
STORED = schedules.Schedule(
    NAME,
    "0 8 * * mon",
    NewJob(
        "report",
        {"n": 12345678901234567890, "x": 1.0},
        priority=9,
        retry=Retry(min=timedelta(seconds=7)),
        headers={"a": "b"},
    ),
    zone="Asia/Kolkata",
    jitter=timedelta(seconds=30),
    overlap="skip",
)


def test_schedule_is_paused_resumed_and_run_now(page: Page, serve: Serve, db: Database) -> None:
    schedules.save(db, STORED)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    page.get_by_role("link", name="Schedules").click()
    row = page.locator(ROWS)
    row.get_by_role("button", name="Pause").click()
    expect(row).to_contain_text("paused")
    assert schedules.get(db, NAME).paused
    row.get_by_role("button", name="Resume").click()
    expect(row.get_by_role("button", name="Pause")).to_be_visible()

    row.get_by_role("link", name=NAME).click()
    expect(page.get_by_role("table", name="Next occurrences").locator(ROWS)).to_have_count(10)
    page.get_by_role("button", name="Run now").click()
    expect(page.locator("h1 .state")).to_have_text("due")
    assert list_jobs(db).rows[0].schedule == NAME

    page.go_back()
    expect(page.get_by_role("table", name="Firings").locator(ROWS)).to_contain_text("requested")


def test_schedule_is_edited_after_a_preview_in_two_zones(page: Page, serve: Serve, db: Database) -> None:
    schedules.save(db, STORED)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/schedules?name=every+monday%2F8")
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    preview = dialog.get_by_role("table", name="Next occurrences")
    expect(preview.get_by_role("columnheader")).to_have_text(["Asia/Kolkata", "UTC", "In"])
    expect(preview.locator(ROWS).first).to_contain_text("08:00")
    expect(preview.locator(ROWS).first).to_contain_text("02:30")

    dialog.get_by_label("Every").fill("0 9 * *")
    expect(dialog.locator(".preview")).to_contain_text("every must be")
    dialog.get_by_label("Kind").fill("report.build")
    dialog.get_by_label("Every").fill("0 9 * * tue")
    expect(preview.locator(ROWS).first).to_contain_text("03:30")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)

    saved = schedules.get(db, NAME).schedule
    assert saved == replace(STORED, every="0 9 * * tue", job=replace(STORED.job, kind="report.build"))
    assert json.dumps(saved.job.payload) == json.dumps(STORED.job.payload), (
        "The number 1.0 must not become 1."
    )


def test_schedule_of_code_can_be_paused_but_not_edited(page: Page, serve: Serve, db: Database) -> None:
    schedules.install(db, [STORED], source="deploy")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/schedules?name=every+monday%2F8")

    expect(page.locator(".facts")).to_contain_text("installed from code by")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Edit")).to_have_count(0)


def test_schedule_is_added(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/schedules")
    page.get_by_role("button", name="Add a schedule").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("nightly")
    dialog.get_by_label("Kind").fill("backup")
    dialog.get_by_label("Payload").fill('{"full": true}')
    dialog.get_by_role("button", name="Save").click()

    expect(dialog).to_have_count(0)
    expect(page.locator(ROWS)).to_contain_text("nightly")
    added = schedules.get(db, "nightly").schedule
    assert (added.job.kind, added.job.payload, added.every) == ("backup", {"full": True}, "0 8 * * mon-fri")


def test_schedule_whose_name_ends_like_a_path_is_opened(page: Page, serve: Serve, db: Database) -> None:
    for name in ("a/b", "a/b/firings"):
        schedules.save(
            db, replace(STORED, name=name, every="0 9 * * tue" if name == "a/b" else "0 7 * * wed")
        )
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/schedules")
    page.get_by_role("link", name="a/b/firings").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("a/b/firings")
    expect(page.locator(".facts")).to_contain_text("0 7 * * wed")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("h1 .state")).to_have_text("paused")
    assert [schedules.get(db, name).paused for name in ("a/b", "a/b/firings")] == [False, True]
    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("dialog").get_by_label("Every")).to_have_value("0 7 * * wed")


def test_hour_that_occurs_twice_in_autumn_has_offsets(page: Page, serve: Serve, db: Database) -> None:
    autumn = datetime(2030, 10, 26, 23, tzinfo=UTC)
    schedules.save(
        db, schedules.Schedule("hourly", "PT1H", NewJob("report"), zone="Europe/Berlin", starts=autumn)
    )
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/schedules?name=hourly")
    rows = page.get_by_role("table", name="Next occurrences").locator(ROWS)

    expect(rows.nth(1)).to_contain_text("Oct 27, 2030, 02:00 +02:00")
    expect(rows.nth(2)).to_contain_text("Oct 27, 2030, 02:00 +01:00")


def test_half_hour_that_occurs_twice_has_offsets(browser: Browser, serve: Serve, db: Database) -> None:
    starts = datetime(2031, 4, 5, 14, 45, tzinfo=UTC)
    schedules.save(db, schedules.Schedule("half", "PT30M", NewJob("report"), zone="UTC", starts=starts))
    url = f"{serve(MINUTEHAND_LOCAL='1')}/console/schedules?name=half"
    with opened_page(browser, timezone_id="Australia/Lord_Howe") as page:
        page.goto(url)
        rows = page.get_by_role("table", name="Next occurrences").locator(ROWS)
        expect(rows.nth(0)).to_contain_text("Apr 6, 2031, 01:45 +11:00")
        expect(rows.nth(1)).to_contain_text("Apr 6, 2031, 01:45 +10:30")
        expect(page.locator(".facts")).to_contain_text("Apr 6, 2031, 01:45:00 +11:00")


def test_times_of_a_schedule_have_names_on_a_narrow_screen(page: Page, serve: Serve, db: Database) -> None:
    schedules.save(db, STORED)
    schedules.run_now(db, NAME)
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/schedules")
    expect(page.locator(ROWS)).to_have_count(1)

    labels = page.locator("td.when").evaluate_all(
        "all => all.map(e => getComputedStyle(e, '::before').content)"
    )
    assert [label.strip('" ') for label in labels] == ["Next", "Last"]
