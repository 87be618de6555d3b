"""The console in a real browser: it shows and changes jobs, escapes their values, and prompts for a token."""

from datetime import timedelta
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from minutehand import Cancel, Database, Retry, enqueue
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.model.failure import result_error
from minutehand.model.outcome import Done, Failed
from minutehand.operations.controls import pause, resume
from minutehand.queries.jobs import get, list_jobs
from tests.console.conftest import TOKEN, Serve

LATER = timedelta(days=3)
SCRIPT = "<img src=x onerror=\"document.title='broken into'\">"


def die(db: Database, message: str) -> None:
    (job,) = take(db, "default", 1, timedelta(minutes=1), timedelta(seconds=2))
    finish(job, Failed({"type": "Broken", "message": message}, final=True))


def test_first_job_is_enqueued_from_the_empty_page(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    expect(page.locator("#empty")).to_contain_text("No jobs yet")

    page.get_by_role("button", name="Enqueue a job").click()
    page.get_by_label("Kind").last.fill("mail.send")
    page.get_by_label("Payload").fill('{"n": 12345678901234567890}')
    page.get_by_label("Delay").fill("PT1H")
    page.locator("#new").get_by_role("button", name="Enqueue").click()

    expect(page.locator("#rows tr")).to_contain_text(["mail.send"])
    (row,) = list_jobs(db).rows
    assert get(db, row.id).payload == {"n": 12345678901234567890}
    assert row.state == "scheduled"


def test_form_shows_validation_errors(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    page.get_by_role("button", name="Enqueue a job").click()
    page.get_by_label("Kind").last.fill("mail.send")

    page.get_by_label("Payload").fill("{not json")
    page.locator("#new").get_by_role("button", name="Enqueue").click()
    expect(page.locator("#new-problem")).to_have_text("The payload must be valid JSON.")

    page.get_by_label("Payload").fill("1")
    page.get_by_label("Kind").last.fill("no kind!")
    page.locator("#new").get_by_role("button", name="Enqueue").click()
    expect(page.locator("#new-problem")).not_to_have_text("The payload must be valid JSON.")
    expect(page.locator("#new-problem")).to_be_visible()
    assert list_jobs(db).rows == ()


def test_jobs_are_filtered_by_state_and_text(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", connection=db)
    die(db, "no route")
    enqueue("mail.send", connection=db)
    finish(take(db, "default", 1, LATER, LATER)[0], Done(error=result_error("not JSON")))
    enqueue("invoice", queue="billing", key="4711", delay=LATER, connection=db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    expect(page.locator("#rows tr")).to_have_count(3)

    page.get_by_label("Result dropped").check()
    expect(page.locator("#rows tr")).to_have_count(1)
    expect(page.locator("#rows")).to_contain_text("the result was not stored: not JSON")
    page.get_by_label("Result dropped").uncheck()

    page.get_by_role("button", name="dead").click()
    expect(page.locator("#rows tr")).to_have_count(1)
    expect(page.locator("#rows")).to_contain_text("Broken: no route")

    page.get_by_role("button", name="all").click()
    page.get_by_label("Key").first.fill("4711")
    expect(page.locator("#rows tr")).to_have_count(1)
    expect(page.locator("#rows")).to_contain_text("invoice")


def test_jobs_are_filtered_by_header_and_priority(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", headers={"request": "b7"}, delay=LATER, connection=db)
    enqueue("invoice", priority=9, delay=LATER, connection=db)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    expect(page.locator("#rows tr")).to_have_count(2)

    page.get_by_label("Priority").fill("9")
    expect(page.locator("#rows tr")).to_have_count(1)
    expect(page.locator("#rows")).to_contain_text("invoice")
    page.get_by_label("Priority").fill("")
    page.get_by_label("Header").fill("request=b7")
    expect(page.locator("#rows")).not_to_contain_text("invoice")
    expect(page.locator("#rows")).to_contain_text("mail.send")


def test_pause_of_everything_is_shown(page: Page, serve: Serve, db: Database) -> None:
    pause(db, everything=True, reason="an upgrade")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    expect(page.locator("#paused")).to_have_text("All jobs are paused: an upgrade")

    resume(db, everything=True)
    expect(page.locator("#paused")).to_be_hidden()


def test_job_is_promoted_and_a_dead_one_retried(page: Page, serve: Serve, db: Database) -> None:
    dead = enqueue("mail.send", connection=db).id
    die(db, "no route")
    waits = enqueue("invoice", delay=LATER, connection=db).id
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")

    page.locator(f"tr[data-id='{waits}']").click()
    page.get_by_role("button", name="promote", exact=True).click()
    expect(page.locator("#job-title")).to_have_text("invoice · due")
    page.get_by_role("button", name="Close").first.click()

    page.locator(f"tr[data-id='{dead}']").press("Enter")
    page.get_by_role("button", name="retry", exact=True).click()
    expect(page.locator("#job-title")).to_have_text("mail.send · due")
    assert {row.state for row in list_jobs(db).rows} == {"due"}


def test_payload_is_masked_by_default_and_shown_exactly(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", {"secret": "s3cret", "n": 12345678901234567890}, delay=LATER, connection=db).id
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    page.locator(f"tr[data-id='{job}']").click()
    expect(page.locator("#facts")).to_contain_text(str(job))
    assert "s3cret" not in page.content()

    page.get_by_role("button", name="Show payload").click()

    expect(page.locator("#payload")).to_contain_text("s3cret")
    expect(page.locator("#payload")).to_contain_text("12345678901234567890")


def test_values_of_a_job_are_inserted_as_text(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", {"html": SCRIPT}, key=SCRIPT, connection=db).id
    die(db, SCRIPT)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    page.locator(f"tr[data-id='{job}']").click()
    page.get_by_role("button", name="Show payload").click()

    expect(page.locator("#rows")).to_contain_text(SCRIPT)
    expect(page.locator("#facts")).to_contain_text(SCRIPT)
    expect(page).to_have_title("minutehand")
    assert page.locator("img").count() == 0


def test_page_prompts_for_a_required_token(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", delay=LATER, connection=db)
    page.goto(f"{serve(MINUTEHAND_CONSOLE='1', MINUTEHAND_API_TOKENS=TOKEN)}/console")
    page.get_by_label("API token").fill("a-wrong-token-of-that-length")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("API token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()

    expect(page.locator("#rows")).to_contain_text("mail.send")


def test_page_is_served_only_if_enabled(serve: Serve) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{serve(MINUTEHAND_API_TOKENS=TOKEN)}/console")

    with refused.value:
        assert refused.value.code == 404


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_the_screen_of_a_phone(page: Page, serve: Serve, db: Database, scheme: str) -> None:
    enqueue("mail.send", key="a-key-that-is-rather-long/" * 4, connection=db)
    die(db, "a sentence that is rather long " * 8)
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")

    expect(page.locator("#rows tr")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is (scheme == "light")


def test_page_shows_that_the_api_is_unreachable(page: Page, serve: Serve, db: Database) -> None:
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    expect(page.locator("#health")).to_contain_text("as of")

    page.context.set_offline(True)

    expect(page.locator("#problem")).to_have_text("The API cannot be reached. Retrying.")


def test_cancelled_running_job_ends_at_its_next_check(page: Page, serve: Serve, db: Database) -> None:
    enqueue("report", connection=db)
    (job,) = take(db, "default", 1, timedelta(minutes=1), timedelta(seconds=2))
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    page.locator(f"tr[data-id='{job.id}']").click()

    page.get_by_role("button", name="cancel", exact=True).click()

    expect(page.locator("#job-title")).to_have_text("report · running · cancellation requested")
    with pytest.raises(Cancel):
        job.check()


def test_every_attempt_is_shown_with_its_outcome(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", max_attempts=2, retry=Retry(strategy="fixed", min=timedelta()), connection=db)
    for message in ("no route", SCRIPT):
        (job,) = take(db, "default", 1, timedelta(minutes=1), timedelta(seconds=2))
        finish(job, Failed({"type": "Broken", "message": message}))
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    page.locator(f"tr[data-id='{job.id}']").click()

    runs = page.locator("#runs tbody tr")
    expect(runs).to_have_count(2)
    expect(runs.first).to_contain_text("retrying")
    expect(runs.first).to_contain_text("Broken: no route")
    expect(runs.last).to_contain_text("dead")
    expect(runs.last).to_contain_text(SCRIPT)


def test_replayed_job_is_shown(page: Page, serve: Serve, db: Database) -> None:
    dead = enqueue("mail.send", connection=db).id
    die(db, "no route")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")
    page.locator(f"tr[data-id='{dead}']").click()

    page.get_by_role("button", name="replay", exact=True).click()

    expect(page.locator("#job-title")).to_have_text("mail.send · due")
    new, old = list_jobs(db).rows
    expect(page.locator("#facts")).to_contain_text(str(new.id))
    assert (old.id, old.state) == (dead, "dead")


def test_open_job_says_why_it_has_not_finished(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", queue="mail", connection=db)
    pause(db, queue="mail", reason=SCRIPT)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console")

    page.locator("#rows tr").click()

    expect(page.locator("#why")).to_contain_text("It is paused: queue mail by ")
    expect(page.locator("#why")).to_contain_text(SCRIPT)
    expect(page.locator("#why code")).to_have_text("minutehand resume --queue mail")
