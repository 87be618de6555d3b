"""The timeline of a job: its enqueue, offers, attempts and waits."""

from datetime import timedelta
from uuid import UUID

from playwright.sync_api import Page, expect

from minutehand import Database, Retry, enqueue
from minutehand.claim import claim
from minutehand.finish import finish
from minutehand.model.offer import Offer
from minutehand.model.outcome import Done, Failed
from minutehand.offer import offer, withdraw
from minutehand.operations.controls import pause, resume
from minutehand.operations.jobs import cancel
from tests.console.conftest import Serve
from tests.console.examples import MINUTE

SECONDS = timedelta(seconds=2)
LAPSED = """
update minutehand.jobs_live
   set offered = offered - interval '5 minutes', visible = offered - interval '3 minutes',
       run_at = run_at - interval '5 minutes', enqueued = enqueued - interval '5 minutes'
 where id = %s
"""


def offer_one(db: Database) -> list[Offer]:
    return list(offer(db, 10, MINUTE).offers)


def lapse(db: Database, job: UUID) -> None:
    """Let the offer of a job lapse: made five minutes ago, for two minutes."""
    with db.transaction() as connection:
        connection.execute(LAPSED, [job])


def titles(page: Page) -> list[str]:
    return page.locator(".timeline strong").all_text_contents()


def test_timeline_has_offers_attempts_and_waits(page: Page, serve: Serve, db: Database) -> None:
    retry = Retry(strategy="fixed", min=timedelta())
    job = enqueue("mail.send", max_attempts=2, retry=retry, connection=db).id
    offer_one(db)
    lapse(db, job)
    withdraw(db, offer_one(db))
    offer_one(db)
    pause(db, queue="default")
    resume(db, queue="default")
    (first,) = claim(db, offer_one(db), MINUTE, SECONDS)
    finish(first, Failed({"type": "Broken", "message": "no route"}))
    (second,) = claim(db, offer_one(db), MINUTE, SECONDS)
    finish(second, Done())
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")

    steps = page.locator(".timeline li")
    expect(steps).to_have_count(9)
    assert titles(page) == [
        "Enqueued",
        *3 * ["Offered, but not claimed"],
        "Attempt 1 started",
        "Attempt 1 failed",
        "Offered to a worker",
        "Attempt 2 started",
        "Attempt 2 done",
    ]
    expect(steps.nth(1)).to_contain_text("No worker claimed it within 2 min.")
    expect(steps.nth(2)).to_contain_text("The invitation of a worker was refused")
    expect(steps.nth(2).locator("em")).to_contain_text("+5 min")
    expect(steps.nth(3)).to_contain_text("A pause recalled it")


def test_timeline_shows_a_lapsed_offer_of_a_due_job(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", connection=db).id
    offer_one(db)
    lapse(db, job)
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")

    expect(page.locator(".timeline strong")).to_have_text(["Enqueued", "Offered, but not claimed", "Due"])


def test_timeline_shows_a_lapsed_offer_of_a_cancelled_job(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", connection=db).id
    offer_one(db)
    lapse(db, job)
    cancel(db, [job])
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")

    steps = page.locator(".timeline strong")
    expect(steps).to_have_text(["Enqueued", "Offered, but not claimed", "Finished: cancelled"])


def test_timeline_shows_the_open_offer_of_a_cancelled_job(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", connection=db).id
    offer_one(db)
    cancel(db, [job])
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")

    steps = page.locator(".timeline strong")
    expect(steps).to_have_text(["Enqueued", "Offered to a worker", "Finished: cancelled"])


def test_timeline_counts_offers_that_are_no_longer_stored(page: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", connection=db).id
    for _ in range(23):
        withdraw(db, offer_one(db))
    page.goto(f"{serve(MINUTEHAND_LOCAL='1')}/console/jobs/{job}")

    expect(page.locator(".timeline .gap")).to_have_text("3 earlier offers, not claimed")
    expect(page.locator(".timeline .bad")).to_have_count(20)
