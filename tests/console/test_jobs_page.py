"""The list of jobs: filters in the URL, pages, changes of selected jobs, and the form that enqueues one."""

import re
from datetime import timedelta

from playwright.sync_api import Page, expect

from minutehand import Database, NewJob, enqueue, enqueue_many
from minutehand.operations.controls import pause, resume
from minutehand.queries.jobs import get, list_jobs
from tests.console.conftest import Serve
from tests.console.examples import HOSTILE, enqueue_examples, enqueue_hostile

LATER = timedelta(days=3)
ROWS = "tbody tr"


def test_first_job_is_enqueued_from_the_empty_page(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    expect(page.locator(".empty")).to_contain_text("No jobs yet")

    page.get_by_role("button", name="Enqueue a job").click()
    page.get_by_label("Kind").fill("mail.send")
    page.get_by_label("Payload").fill("{not json")
    page.get_by_role("button", name="Enqueue", exact=True).click()
    expect(page.get_by_role("alert")).to_have_text("The payload must be valid JSON.")
    page.get_by_label("Payload").fill('{"n": 12345678901234567890}')
    page.get_by_label("Kind").fill("no kind!")
    page.get_by_role("button", name="Enqueue", exact=True).click()
    expect(page.get_by_role("alert")).not_to_have_text("The payload must be valid JSON.")
    page.get_by_label("Kind").fill("mail.send")
    page.get_by_label("Delay").fill("an hour")
    page.get_by_role("button", name="Enqueue", exact=True).click()
    expect(page.get_by_role("alert")).to_have_text(
        '"an hour" is not a duration. Write 90s, 10m, 2h30m, 3d, or ISO 8601 such as PT10M.'
    )
    page.get_by_label("Delay").fill("1d 2h30m")
    page.get_by_role("button", name="Enqueue", exact=True).click()

    expect(page.locator(ROWS)).to_contain_text(["mail.send"])
    (row,) = list_jobs(db).rows
    assert get(db, row.id).payload == {"n": 12345678901234567890}
    assert row.visible - row.enqueued == timedelta(days=1, hours=2, minutes=30)


def test_unknown_filter_value_is_described_for_people(page: Page, serve: Serve, db: Database) -> None:
    enqueue("echo", connection=db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs?state=foo")

    expect(page.get_by_role("alert")).to_have_text(re.compile("^state must be 'scheduled', 'due'"))


def test_filters_and_states_are_in_the_address(page: Page, serve: Serve, db: Database) -> None:
    enqueue_examples(db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    expect(page.locator(ROWS)).to_have_count(10)

    page.keyboard.press("/")
    page.keyboard.type("kind:report.build\n")
    expect(page.locator(ROWS)).to_have_count(2)
    page.get_by_role("link", name="dead").click()
    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(ROWS)).to_contain_text("KeyError: 'total'")
    expect(page).to_have_url(re.compile("kind=report.build&state=dead"))

    page.reload()
    expect(page.locator(ROWS)).to_have_count(1)
    page.go_back()
    expect(page.locator(ROWS)).to_have_count(2)
    page.get_by_role("button", name="Remove the filter kind").click()
    expect(page.locator(ROWS)).to_have_count(10)
    page.get_by_label("Filter", exact=True).fill("welcome/ada")
    page.keyboard.press("Enter")
    expect(page.locator(ROWS)).to_contain_text(["welcome/ada"])


def test_selected_jobs_change_after_a_preview(page: Page, serve: Serve, db: Database) -> None:
    enqueue_examples(db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    page.get_by_label("Select all rows of this page").check()
    expect(page.get_by_role("region", name="Selected jobs")).to_contain_text("10 jobs selected")

    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("6 jobs will change. 4 jobs will not")
    page.get_by_label("Reason").fill("a wrong text")
    page.get_by_role("dialog").get_by_role("button", name="Cancel", exact=True).click()

    expect(page.locator(".toast")).to_have_text(re.compile("5 jobs cancelled, 1 asked to stop"))
    assert [row.state for row in list_jobs(db).rows].count("cancelled") == 5


def test_pages_are_linked_by_cursors(page: Page, serve: Serve, db: Database) -> None:
    list(enqueue_many([NewJob("echo", number, delay=LATER) for number in range(60)], connection=db))
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    expect(page.locator(ROWS)).to_have_count(50)

    page.get_by_role("button", name="Older").click()
    expect(page.locator(ROWS)).to_have_count(10)
    expect(page).to_have_url(re.compile("before="))
    page.get_by_role("button", name="Newest").click()
    expect(page.locator(ROWS)).to_have_count(50)


def test_keyboard_moves_selects_and_opens_rows(page: Page, serve: Serve, db: Database) -> None:
    enqueue("first", delay=LATER, connection=db)
    enqueue("second", delay=LATER, connection=db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    expect(page.locator(ROWS)).to_have_count(2)

    page.keyboard.type("jx")
    expect(page.get_by_role("region", name="Selected jobs")).to_contain_text("1 job selected")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Next row")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.type("j")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", level=1)).to_contain_text("first")
    page.keyboard.type("gj")
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")


def test_keys_move_back_and_are_text_in_the_filter(page: Page, serve: Serve, db: Database) -> None:
    for kind in ("first", "second", "third"):
        enqueue(kind, delay=LATER, connection=db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    expect(page.locator(ROWS)).to_have_count(3)

    page.keyboard.type("kjjjjk")
    expect(page.locator("tr[aria-current]")).to_contain_text("second")
    page.keyboard.type("/jk?")
    expect(page.get_by_label("Filter", exact=True)).to_have_value("jk?")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_pause_of_everything_is_shown(page: Page, serve: Serve, db: Database) -> None:
    pause(db, everything=True, reason="an upgrade")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    expect(page.locator(".banner")).to_have_text("All jobs are paused: an upgrade")

    resume(db, everything=True)
    page.keyboard.press("r")
    expect(page.locator(".banner")).to_have_count(0)


def test_hostile_texts_are_inserted_as_text(page: Page, serve: Serve, db: Database) -> None:
    enqueue_hostile(db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    expect(page.locator(ROWS)).to_have_count(len(HOSTILE))

    page.locator(ROWS).last.get_by_role("link").click()
    page.get_by_role("button", name="Show traces").click()
    page.get_by_role("button", name="Show payload and result").click()

    expect(page.locator("pre").first).to_contain_text(HOSTILE[0])
    expect(page.get_by_label("payload", exact=True)).to_contain_text("onerror")
    expect(page).to_have_title("mail.send · minutehand")
    assert page.locator("img").count() == 0


def test_all_matching_jobs_change_after_a_dry_run(page: Page, serve: Serve, db: Database) -> None:
    jobs = [NewJob("echo", {"order": {"n": number}}, delay=LATER) for number in range(60)]
    list(enqueue_many([*jobs, NewJob("other", delay=LATER)], connection=db))
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs?kind=echo")
    expect(page.get_by_role("link", name="scheduled 60")).to_be_visible()
    page.get_by_label("Select all rows of this page").check()
    page.get_by_role("button", name="Select all that match").click()

    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("60 jobs will change.")
    page.get_by_role("dialog").get_by_role("button", name="Cancel", exact=True).click()

    expect(page.locator(".toast")).to_have_text(re.compile("60 jobs cancelled"))
    expect(page.get_by_role("link", name="cancelled 60")).to_be_visible()
    assert [row.kind for row in list_jobs(db, states=["scheduled"]).rows] == ["other"]


def test_jobs_are_found_by_their_payload(page: Page, serve: Serve, db: Database) -> None:
    list(enqueue_many([NewJob("echo", {"order": {"n": n}}, delay=LATER) for n in range(5)], connection=db))
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs")
    page.get_by_label("Filter", exact=True).fill("payload:order.n=3")
    page.keyboard.press("Enter")

    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.get_by_role("link", name="scheduled 1")).to_be_visible()
