"""The page of a job: why, timeline, attempts and values, which follow the job, and its changes."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from minutehand import Cancel, Database, Retry, enqueue
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.controls import pause, resume
from minutehand.operations.jobs import promote
from minutehand.queries.jobs import get, list_jobs
from tests.console.conftest import Serve
from tests.console.examples import MINUTE, SCRIPT

LATER = timedelta(days=3)
NOW = "document.dispatchEvent(new Event('visibilitychange'))"


def die(db: Database, message: str) -> None:
    (job,) = take(db, "default", 1, MINUTE, timedelta(seconds=2))
    finish(job, Failed({"type": "Broken", "message": message, "trace": "Traceback: line 7"}, final=True))


def change(page: Page, verb: str) -> None:
    """Press a button of the page, and then the button of the same name in the dialog that asks for confirmation."""
    page.get_by_role("button", name=verb, exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name=verb, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize(
    ("key", "command"),
    [
        ("x: minutehand cancel --all #", "minutehand resume --key 'x: minutehand cancel --all #'"),
        ("a; minutehand tick", "minutehand resume --key 'a; minutehand tick'"),
        ("\u202ea\x03\n", r"minutehand resume --key $'\xe2\x80\xaea\x03\x0a'"),
    ],
)
def test_next_step_with_a_hostile_name_is_one_command(
    page: Page, serve: Serve, db: Database, key: str, command: str
) -> None:
    job = enqueue("mail.send", key=key, connection=db).id
    pause(db, key=key)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")

    expect(page.locator(".why code")).to_have_text(command)
    expect(page.locator(".why .soft")).to_have_count(0)


def test_next_step_shows_each_of_its_commands(page: Page, serve: Serve, db: Database) -> None:
    first = enqueue("mail.send", connection=db).id
    job = enqueue("mail.send", after=[first], after_failure="wait", connection=db).id
    die(db, "no")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")

    expect(page.locator(".why code")).to_have_text([f"minutehand retry {first}", f"minutehand promote {job}"])
    expect(page.locator(".why .soft")).to_have_text("to run it now:")


def test_job_says_why_it_waits_and_follows_its_changes(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", queue="mail", connection=db).id
    pause(db, queue="mail", reason=SCRIPT)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")
    expect(page.locator(".why")).to_contain_text("It is paused: queue mail by ")
    expect(page.locator(".why")).to_contain_text(SCRIPT)
    expect(page.locator(".why code")).to_have_text("minutehand resume --queue mail")

    resume(db, queue="mail")
    (claimed,) = take(db, "mail", 1, 60 * MINUTE, timedelta(seconds=2))
    page.evaluate(NOW)
    expect(page.locator("h1 .state")).to_have_text("running")
    finish(claimed, Done("1"))
    page.evaluate(NOW)
    expect(page.locator("h1 .state")).to_have_text("done")
    expect(page.locator(".timeline")).to_contain_text("Attempt 1 done")
    expect(page.locator(".timeline")).not_to_contain_text("+0 ms")


def test_open_job_is_updated_without_a_key_or_a_click(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", delay=LATER, connection=db).id
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")
    expect(page.locator("h1 .state")).to_have_text("scheduled")

    promote(db, [job])
    expect(page.locator("h1 .state")).to_have_text("due")
    expect(page.locator(".why")).to_contain_text("The dispatcher has never ticked")


def test_job_is_rescheduled_edited_promoted_and_cancelled(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", {"n": 12345678901234567890}, delay=LATER, connection=db).id
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")
    before = get(db, job).run_at

    page.get_by_role("button", name="Reschedule").click()
    page.get_by_label("or in").fill("PT5H")
    page.get_by_role("dialog").get_by_role("button", name="Reschedule").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert get(db, job).run_at < before

    page.get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Payload", exact=True)).to_have_value('{\n  "n": 12345678901234567890\n}')
    page.get_by_label("Priority").fill("9")
    page.get_by_label("Payload", exact=True).fill("{not json")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_have_text("The payload must be valid JSON.")
    expect(page.get_by_label("Payload", exact=True)).to_have_value("{not json")
    page.get_by_label("Payload", exact=True).fill('{"n": 12345678901234567891}')
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert (get(db, job).payload, get(db, job).priority) == ({"n": 12345678901234567891}, 9)

    change(page, "Run now")
    expect(page.locator("h1 .state")).to_have_text("due")
    change(page, "Cancel")
    expect(page.locator("h1 .state")).to_have_text("cancelled")
    change(page, "Retry")
    expect(page.locator("h1 .state")).to_have_text("due")


def test_replayed_job_is_shown(page: Page, serve: Serve, db: Database) -> None:
    dead = enqueue("mail.send", connection=db).id
    die(db, "no route")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{dead}")

    change(page, "Replay")

    new, old = list_jobs(db).rows
    expect(page.locator(".id")).to_have_text(str(new.id))
    assert (old.id, old.state) == (dead, "dead")


def test_cancelled_running_job_ends_at_its_next_check(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("report", connection=db).id
    (claimed,) = take(db, "default", 1, 60 * MINUTE, timedelta(seconds=2))
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")

    change(page, "Cancel")

    expect(page.locator(".banner")).to_contain_text("Cancellation was requested")
    with pytest.raises(Cancel):
        claimed.check()


def test_replayed_job_shows_no_traces_of_the_one_before(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", connection=db).id
    die(db, "no")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")
    page.get_by_role("button", name="Show traces").click()
    expect(page.get_by_text("Traceback: line 7").first).to_be_visible()
    change(page, "Replay")
    expect(page).not_to_have_url(re.compile(str(job)))
    die(db, "again")
    page.evaluate(NOW)

    expect(page.get_by_role("button", name="Show traces")).to_be_visible()
    expect(page.get_by_text("Traceback: line 7")).to_have_count(0)


def test_values_and_traces_are_shown_on_request(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", {"secret": "s3cret", "n": 12345678901234567890}, connection=db).id
    die(db, "no route")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")
    expect(page.locator(".error-text").first).to_have_text("Broken no route")
    assert "s3cret" not in page.content() and "Traceback" not in page.content()

    page.get_by_role("button", name="Show payload").click()
    page.get_by_role("button", name="Show traces").click()

    expect(page.get_by_label("payload", exact=True)).to_contain_text("12345678901234567890")
    expect(page.get_by_label("payload", exact=True)).to_contain_text("s3cret")
    expect(page.locator(".attempts pre")).to_have_text("Traceback: line 7")


def test_every_attempt_is_shown_with_its_outcome(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", max_attempts=2, retry=Retry(strategy="fixed", min=timedelta()), connection=db)
    for message in ("no route", SCRIPT):
        (job,) = take(db, "default", 1, MINUTE, timedelta(seconds=2))
        finish(job, Failed({"type": "Broken", "message": message}))
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job.id}")

    attempts = page.locator(".attempts li")
    expect(attempts).to_have_count(2)
    expect(attempts.first).to_contain_text("dead")
    expect(attempts.first).to_contain_text(SCRIPT)
    expect(attempts.last).to_contain_text("retrying")
    expect(attempts.last).to_contain_text("no route")


def test_absent_job_is_explained(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/0198a5b0-0000-7000-8000-000000000001")

    expect(page.get_by_role("alert")).to_contain_text("not found")
