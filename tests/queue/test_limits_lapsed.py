"""An offer or a claim that has lapsed is void where limits are set: another job may have taken its slot."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from minutehand import Job, LostError
from minutehand.attempts.in_turn import run_jobs
from minutehand.finish import finish
from minutehand.handlers import HandlerTable
from minutehand.model.outcome import Done, Failed, Outcome
from minutehand.operations.controls import limit, pause
from tests.queue.stage import LEASE, LONG, Queue
from tests.queue.test_limits import BUSY, fill

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no"}


def thawed(queue: Queue) -> tuple[Job, Job]:
    """Return a claim that lapsed while its worker was frozen, and the job that took its place under a limit."""
    fill(queue, 1)
    limit(queue.database, 1, queue="mail")
    (lapsed,) = queue.take(1, "mail")
    lapsed.lease.start()
    queue.pass_time(lapsed.id)
    fill(queue, 1, priority=9)
    (taken,) = queue.take(1, "mail")
    assert taken.id != lapsed.id
    return lapsed, taken


def test_lapsed_offer_cannot_be_claimed_under_a_limit(queue: Queue) -> None:
    """Another job may have been offered instead."""
    fill(queue, 1)
    limit(queue.database, 1, queue="mail")
    (lapsed,) = queue.offer()
    queue.pass_time(lapsed.id)
    fill(queue, 1, priority=9)
    (taken,) = queue.take(1, "mail")

    assert taken.id != lapsed.id
    assert queue.claim(lapsed) == []
    assert queue.sql(BUSY) == [{"jobs": 1}]


CALLS: dict[str, Callable[[Job], object]] = {
    "extend": lambda job: job.extend(LEASE),
    "check": lambda job: job.check(),
}


@pytest.mark.parametrize("call", CALLS)
def test_lapsed_claim_is_lost_under_a_limit(queue: Queue, call: str) -> None:
    lapsed, taken = thawed(queue)

    with pytest.raises(LostError, match="taken its slot of a limit"):
        CALLS[call](lapsed)
    assert queue.sql(BUSY) == [{"jobs": 1}]
    CALLS[call](taken)


@pytest.mark.fault("extend", r"and \(j\.visible > clock_timestamp\(\).*?not null\)\)", "")
def test_waiting_job_of_a_chunk_does_not_start_after_its_claim_lapsed(queue: Queue) -> None:
    lapsed, _ = thawed(queue)
    ran: list[object] = []
    waited = replace(lapsed, lease=replace(lapsed.lease, holds_until=0.0, started=None))

    endings = run_jobs([waited], HandlerTable({"slow": ran.append}), stopping=lambda: False)

    assert ([each.ending for each in endings], ran) == (["lost"], [])
    assert queue.sql(BUSY) == [{"jobs": 1}]


@pytest.mark.parametrize(("outcome", "ending"), [(Done(), "done"), (Failed(ERROR, LONG), "retrying")])
def test_late_finish_is_accepted_under_a_limit(queue: Queue, outcome: Outcome, ending: str) -> None:
    lapsed, _ = thawed(queue)

    assert finish(lapsed, outcome).ending == ending


def test_late_transaction_is_accepted_under_a_limit(queue: Queue) -> None:
    lapsed, _ = thawed(queue)
    with lapsed.transaction():
        pass

    assert queue.row(lapsed.id).state == "done"


@pytest.mark.fault("extend", r"where max_running is not null", "")
@pytest.mark.fault("check_claim", r"and \(\"group\" is not null or exists \(.*?not null\)\)", "")
def test_lapsed_claim_can_be_extended_without_a_limit(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id)
    pause(queue.database, queue="other")

    job.check()
    job.extend(LEASE)
    assert queue.row(job.id).state == "running"
