"""The pages Failures, Queues, Batches and Audit: what they show, and the changes that they make."""

import re
from datetime import timedelta

from playwright.sync_api import Page, expect

from minutehand import Database, batch, enqueue
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.model.worker import Worker
from minutehand.operations.controls import limit, list_controls, list_holds
from minutehand.operations.jobs import cancel
from minutehand.queries.jobs import list_jobs
from tests.console.conftest import Serve
from tests.console.examples import HOSTILE, run_one

ROWS = "tbody tr"
MINUTE = timedelta(minutes=1)


def fail(db: Database, message: str) -> None:
    enqueue("mail.send", connection=db)
    run_one(db, Failed({"type": "TimeoutError", "message": message}, final=True))


def test_failures_are_grouped_by_cause_and_retried_after_a_preview(
    page: Page, serve: Serve, db: Database
) -> None:
    for seconds in range(3):
        fail(db, f"no answer in {seconds} s")
    for text in HOSTILE:
        fail(db, text)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/failures")
    row = page.locator(ROWS).filter(has_text="no answer in # s")
    expect(row).to_contain_text("3 dead")
    expect(row.get_by_role("img")).to_have_attribute("aria-label", re.compile("3 failures"))

    row.get_by_role("button", name="Retry all").click()
    expect(page.get_by_role("dialog")).to_contain_text("3 jobs will be retried")
    page.get_by_role("dialog").get_by_role("button", name="Retry all").click()
    expect(page.locator(".toast")).to_have_text(re.compile("3 jobs retried"))
    expect(row).to_have_count(0)
    assert [each.state for each in list_jobs(db).rows].count("due") == 3
    expect(page).not_to_have_title("broken into")


def test_cause_leads_to_its_jobs(page: Page, serve: Serve, db: Database) -> None:
    fail(db, "no answer in 5 s")
    fail(db, "refused")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/failures?window=1h")
    page.locator(ROWS).filter(has_text="no answer in # s").get_by_role("link", name="TimeoutError").click()

    expect(page.locator(ROWS)).to_have_count(1)
    expect(page.locator(ROWS)).to_contain_text("no answer in 5 s")


def test_queue_is_paused_and_resumed(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", queue="mail", connection=db)
    limit(db, 2, queue="mail", kind="mail.send")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/queues")
    queue = page.get_by_role("table", name="Queues").locator(ROWS)
    expect(page.get_by_role("table", name="Pauses and limits")).to_contain_text("at most 2 at once")

    queue.get_by_role("button", name="Pause").click()
    page.get_by_label("Reason").fill("an incident")
    page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(queue).to_contain_text("paused")
    assert [each.reason for each in list_controls(db) if each.paused] == ["an incident"]

    queue.get_by_role("button", name="Resume").click()
    expect(queue.locator(".state.paused")).to_have_count(0)
    assert not [each for each in list_controls(db) if each.paused]


def test_batch_shows_its_progress_and_leads_to_its_jobs(page: Page, serve: Serve, db: Database) -> None:
    with batch(name="import", connection=db) as jobs:
        jobs.enqueue("mail.send")
        jobs.enqueue("mail.send")
    enqueue("mail.send", connection=db)
    run_one(db, Failed({"type": "KeyError", "message": "no"}, final=True))
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/batches")

    expect(page.locator(ROWS)).to_contain_text("1 of 2 jobs")
    page.get_by_role("link", name="import").click()
    expect(page.locator(ROWS)).to_have_count(2)


def test_nested_batches_lead_to_each_other(page: Page, serve: Serve, db: Database) -> None:
    with batch(name="year", connection=db) as year:
        year.enqueue("mail.send")
        with year.batch(name="June") as june:
            june.enqueue("mail.send")
        with year.batch(name="July") as july:
            july.enqueue("mail.send")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/batches")
    expect(page.locator(ROWS)).to_have_count(3)

    page.get_by_role("link", name="has 2 batches").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("year")
    nested = page.get_by_role("table", name="Nested batches").locator(ROWS)
    expect(nested).to_contain_text(["July", "June"])
    page.get_by_role("link", name="in a batch").first.click()
    above = page.get_by_role("table", name="The batch").locator(ROWS)
    expect(above).to_contain_text("0 of 3 jobs")
    above.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_contain_text("and those of the batches nested in it, are cancelled")


def test_group_that_waits_after_retry_after_continues(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", queue="mail", group="shop/4", connection=db)
    (job,) = take(db, "mail", 1, MINUTE, MINUTE)
    finish(job, Failed({"type": "RetryAfter", "message": "busy"}, hold=60 * MINUTE))
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/queues")
    waiting = page.get_by_role("table", name="Groups that wait after Retry-After").locator(ROWS)
    expect(waiting).to_contain_text("shop/4")

    waiting.get_by_role("button", name="Continue now").click()
    expect(waiting).to_have_count(0)
    assert list_holds(db) == []


def test_system_shows_budgets_workers_and_findings(page: Page, serve: Serve, db: Database) -> None:
    enqueue("mail.send", connection=db)
    take(db, "default", 1, 60 * MINUTE, MINUTE)
    enqueue("mail.send", connection=db)
    (job,) = take(db, "default", 1, MINUTE, MINUTE, worker=Worker("shop-worker", version="42"))
    finish(job, Done("1"))
    with db.transaction() as connection:
        connection.execute("update minutehand.dispatcher set capacity = 50, ticked = now()")
        connection.execute("insert into minutehand.budgets values ('default', 5, now())")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/system")

    expect(page.get_by_role("region", name="Capacity")).to_contain_text("1 used, 49 free of 50")
    expect(page.get_by_role("table", name="Reduced budgets").locator(ROWS)).to_contain_text("default")
    expect(page.get_by_role("table", name="Workers").locator(ROWS)).to_contain_text("42")
    expect(page.get_by_role("region", name="Versions")).to_contain_text("as the library requires")
    expect(page.get_by_role("table", name="Problems and warnings").locator(ROWS).first).to_contain_text(
        "autovacuum"
    )


def test_audit_lists_changes_and_filters_them(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", connection=db).id
    cancel(db, [job], "wrong text", actor="ada")
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/audit")
    expect(page.locator(ROWS)).to_contain_text(["wrong text"])

    page.get_by_label("Actor").fill("bob")
    cancel(db, [enqueue("mail.send", connection=db).id], "another text", actor="ada")
    page.get_by_role("button", name="Live").focus()
    page.keyboard.press("r")
    expect(page.locator(ROWS)).to_have_count(2)
    # The page was drawn again, which keeps what is typed.
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".empty")).to_contain_text("No changes match")
    expect(page).to_have_url(re.compile("actor=bob"))
    page.get_by_role("link", name="Clear the filters").click()
    expect(page.get_by_label("Actor")).to_have_value("")
