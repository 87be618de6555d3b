"""Offers that no worker claimed are noted when they end, and nothing is noted for those that were claimed."""

from datetime import timedelta
from uuid import UUID

import pytest

from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.offer import withdraw
from minutehand.operations.controls import pause
from minutehand.queries.offers import UnclaimedOffers, unclaimed_offers
from tests.queue.stage import Queue

DAY = timedelta(days=1)
# How a refused offer gets its end.
KEPT = r"least\(j\.visible, clock_timestamp\(\)\)"


def unclaimed(queue: Queue, job_id: UUID) -> UnclaimedOffers:
    return unclaimed_offers(queue.database, job_id)


def lapse(queue: Queue, job_id: UUID, times: int = 1) -> None:
    """Offer a job, and let the offer lapse."""
    for _ in range(times):
        assert [each.id for each in queue.offer()] == [job_id]
        queue.pass_time(job_id, timedelta(seconds=1))


@pytest.mark.fault("offer", r"array_agg\(offered\)", "array_agg(enqueued)")
def test_lapsed_offer_is_noted_when_the_job_is_offered_again(queue: Queue) -> None:
    job_id = queue.enqueue()
    lapse(queue, job_id)
    first = queue.row(job_id)
    assert unclaimed(queue, job_id) == UnclaimedOffers()

    queue.offer()

    (noted,) = unclaimed(queue, job_id).latest
    assert (noted.offered, noted.ended, noted.outcome) == (first.offered, first.visible, "lapsed")


@pytest.mark.fault(
    "offer",
    r"and \(claimed is null or offered > claimed\) and visible <= coalesce",
    "and visible <= coalesce",
)
def test_claimed_offers_are_not_noted(queue: Queue) -> None:
    job_id = queue.enqueue()
    (job,) = queue.claim(*queue.offer())
    # Its worker dies, and the lease ends.
    queue.pass_time(job_id)
    (job,) = queue.claim(*queue.offer())
    finish(job, Failed({"type": "Broken", "message": "no"}))
    queue.pass_time(job_id)
    (job,) = queue.claim(*queue.offer())
    finish(job, Done())

    assert unclaimed(queue, job_id) == UnclaimedOffers()


def test_offers_under_a_limit_are_noted_as_well(queue: Queue) -> None:
    job_id = queue.enqueue(group="a")
    lapse(queue, job_id, 2)

    assert unclaimed(queue, job_id).count == 1


@pytest.mark.fault("withdraw", "'refused'", "'lapsed'")
def test_refused_invitation_is_noted(queue: Queue) -> None:
    job_id = queue.enqueue()
    offers = queue.offer()
    withdraw(queue.database, offers)

    (noted,) = unclaimed(queue, job_id).latest
    assert (noted.outcome, noted.ended) == ("refused", queue.row(job_id).visible)
    assert noted.offered < noted.ended


@pytest.mark.fault("withdraw", KEPT, "clock_timestamp()")
def test_offer_that_is_refused_after_its_end_keeps_it(queue: Queue) -> None:
    job_id = queue.enqueue()
    offers = queue.offer()
    queue.pass_time(job_id)
    ended = queue.row(job_id).visible

    withdraw(queue.database, offers)

    assert queue.row(job_id).visible == ended


@pytest.mark.fault("functions/waking", KEPT, "clock_timestamp()")
def test_offer_refused_in_mode_prompt_after_its_end_keeps_it(queue: Queue) -> None:
    job_id = queue.enqueue()
    (offer,) = queue.offer()
    queue.pass_time(job_id)
    ended = queue.row(job_id).visible

    queue.database.run("withdraw_now", ids=[offer.id], acks=[offer.ack])

    assert queue.row(job_id).visible == ended


@pytest.mark.fault("functions/updates", "else 'recalled' end", "else 'lapsed' end")
def test_offer_recalled_by_a_pause_is_noted(queue: Queue) -> None:
    recalled, lapsed = queue.enqueue(), queue.enqueue()
    queue.offer()
    queue.pass_time(lapsed)
    pause(queue.database, queue="default")

    outcomes = [unclaimed(queue, each).latest[0].outcome for each in (recalled, lapsed)]
    assert outcomes == ["recalled", "lapsed"]


@pytest.mark.fault("functions/unclaimed_offers", r"cardinality\(u.ended\) - 18", "cardinality(u.ended) - 28")
def test_latest_twenty_offers_of_a_job_are_kept(queue: Queue) -> None:
    job_id = queue.enqueue()
    lapse(queue, job_id, 26)

    found = unclaimed(queue, job_id)
    assert (found.count, len(found.latest)) == (25, 20)
    assert [each.offered for each in found.latest] == sorted(each.offered for each in found.latest)


@pytest.mark.fault("functions/unclaimed_offers", "::date - 7", "::date - 9")
def test_unclaimed_offers_are_forgotten_after_a_week(queue: Queue) -> None:
    old, new = queue.enqueue(), queue.enqueue()
    withdraw(queue.database, queue.offer())
    queue.sql("update minutehand.unclaimed_offers set day = day - 8 where job = %(job)s", job=old)

    queue.database.run("prune_unclaimed", now=None)

    assert [unclaimed(queue, each).count for each in (old, new)] == [0, 1]
