"""Pause: paused jobs are neither offered nor taken by any process until they are resumed or the pause ends."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import InvalidJobError
from minutehand.finish import finish
from minutehand.model.control import Control
from minutehand.model.outcome import Done
from minutehand.operations.controls import limit, list_controls, pause, resume
from minutehand.settings import Settings
from minutehand.tick import tick
from tests.queue.stage import LONG, Queue

WHAT = {
    "queue": {"queue": "mail"},
    "kind": {"kind": "slow"},
    "key": {"key": "ada"},
    "tenant": {"tenant": "acme"},
    "kind in a queue": {"queue": "mail", "kind": "slow"},
}


class Post:
    """An invoker that stores the events."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def invoke(self, _: str, event: dict[str, Any]) -> None:
        self.events.append(event)


def enqueue(stage: Queue, payload: str, **options: Any) -> None:
    stage.enqueue(options.pop("kind", "echo"), payload, **options)


@pytest.fixture(params=WHAT, ids=list(WHAT))
def what(request: pytest.FixtureRequest, queue: Queue) -> dict[str, str]:
    """The scope of a pause. One due job matches it, and others differ in one name."""
    enqueue(queue, "paused", queue="mail", kind="slow", key="ada", tenant="acme")
    names = WHAT[request.param]
    if "queue" in names:
        enqueue(queue, "free", queue="other", kind="slow", key="ada", tenant="acme")
    if "kind" in names:
        enqueue(queue, "free", queue="mail", kind="quick", key="other", tenant="acme")
    if "key" in names:
        enqueue(queue, "free", queue="mail", kind="slow", key="bob", tenant="acme")
        enqueue(queue, "free", queue="mail", kind="slow", tenant="acme")
    if "tenant" in names:
        enqueue(queue, "free", queue="mail", kind="slow", key="ada", tenant="other")
        enqueue(queue, "free", queue="mail", kind="slow", key="ada")
    return names


def taken(queue: Queue) -> list[str]:
    return [job.payload for name in ("mail", "other") for job in queue.take(10, name)]


def offered(queue: Queue) -> list[str]:
    return [job.payload for job in queue.claim(*queue.offer())]


@pytest.mark.fault("take", r"exists \(select from minutehand.controls where queue in [^\n]*\)", "false")
def test_paused_jobs_are_not_taken(queue: Queue, what: dict[str, str]) -> None:
    pause(queue.database, **what)  # type: ignore[call-overload]

    free = taken(queue)
    assert set(free) == {"free"}
    assert taken(queue) == []
    assert resume(queue.database, **what)  # type: ignore[call-overload]
    assert taken(queue) == ["paused"]


@pytest.mark.fault("offer", r"exists \(select from minutehand.controls\)", "false")
def test_paused_jobs_are_not_offered(queue: Queue, what: dict[str, str]) -> None:
    queue.sql("update minutehand.lanes set shared = false")
    queue.sql("update minutehand.lane_changes set shared = false")
    pause(queue.database, **what)  # type: ignore[call-overload]

    assert set(offered(queue)) == {"free"}
    assert offered(queue) == []
    assert resume(queue.database, **what)  # type: ignore[call-overload]
    assert offered(queue) == ["paused"]


def test_jobs_of_a_paused_tenant_are_not_offered(queue: Queue) -> None:
    for tenant in ("acme", "other", ""):
        queue.enqueue(payload=tenant, tenant=tenant)
    pause(queue.database, tenant="acme")

    assert sorted(offered(queue)) == ["", "other"]


@pytest.mark.fault("count_due", r"exists \(select from minutehand.controls where paused\)", "false")
def test_paused_jobs_are_not_counted_as_due(queue: Queue, what: dict[str, str]) -> None:
    before = sum(record["due"] for record in queue.database.run("count_due", limit=100, now=None))
    pause(queue.database, **what)  # type: ignore[call-overload]

    assert sum(record["due"] for record in queue.database.run("count_due", limit=100, now=None)) == before - 1


def test_tick_invokes_no_worker_for_paused_jobs(queue: Queue) -> None:
    queue.enqueue()
    pause(queue.database, queue="default")
    post, settings = Post(), Settings(capacity=50, chunk=1, offer_ttl=timedelta(minutes=2))

    assert tick(queue.database, post, settings).due == {}
    resume(queue.database, queue="default")
    assert tick(queue.database, post, settings).due == {"default": 1}
    assert len(post.events) == 1


@pytest.mark.fault(
    "functions/updates",
    r"set ack = case when j.claimed is not null.*?end, prior = null, offered = null",
    "set prior = j.prior",
)
def test_offer_in_flight_during_a_pause_cannot_be_claimed(queue: Queue) -> None:
    queue.enqueue()
    running, other = queue.claimed(queue="mail"), queue.enqueue(queue="mail")
    offers = queue.offer()
    pause(queue.database, queue="mail")

    assert [job.queue for job in queue.claim(*offers)] == ["default"]
    assert queue.row(other).state == "due"
    assert finish(running, Done()).ending == "done"


@pytest.mark.fault(
    "functions/updates", r"and \(j.claimed is null or j.offered > j.claimed\)(.*?recall_offers.of)", r"\1"
)
def test_pause_does_not_recall_the_offer_of_a_running_job(queue: Queue) -> None:
    queue.enqueue()
    (running,) = queue.claim(*queue.offer())
    pause(queue.database, queue="default")

    assert finish(running, Done()).ending == "done"


@pytest.mark.fault(
    "functions/updates", r"set ack = case when j.claimed is not null then j.prior end", "set ack = j.prior"
)
def test_late_offer_of_a_paused_job_cannot_be_claimed(queue: Queue) -> None:
    job_id = queue.enqueue()
    late = queue.offer()
    queue.pass_time(job_id)
    again = queue.offer()
    pause(queue.database, queue="default")

    assert queue.claim(*late) == queue.claim(*again) == []
    # Queries tell jobs that wait for a retry by it.
    assert queue.sql("select ack from minutehand.jobs_live") == [{"ack": None}]


def test_late_finish_of_a_lapsed_claim_is_accepted_after_a_pause(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id)
    queue.offer()
    pause(queue.database, queue="default")

    assert finish(job, Done()).ending == "done"


@pytest.mark.fault("hold_ticks", r"minutehand.hold_ticks\(\)", "1")
def test_concurrent_tick_does_not_offer_paused_jobs(queue: Queue) -> None:
    queue.enqueue()
    other = queue.another()
    with other.transaction():
        pause(other, queue="default")
        offering = queue.start(queue.offer)
        queue.until_done_or_waiting(offering)
        waited = not offering.done()

    assert waited
    assert offering.result() == []


@pytest.mark.fault(
    "functions/limits", r"c.paused and \(c.until is null or c.until > moment\) then", "c.paused then"
)
@pytest.mark.fault("functions/controls", r"where c.paused and \(c.until .*?\)", "where c.paused")
def test_pause_ends_at_its_time(queue: Queue) -> None:
    (row,) = queue.sql("select id, clock_timestamp() as now from minutehand.enqueue('echo')")
    until = row["now"] + timedelta(hours=1)
    pause(queue.database, queue="default", until=until)

    assert queue.offer(now=until - timedelta(seconds=1)) == []
    assert [each.until for each in list_controls(queue.database)] == [until]
    assert [each["due"] for each in queue.database.run("count_due", limit=100, now=until)] == [1]
    assert [offer.id for offer in queue.offer(now=until)] == [row["id"]]


def test_pause_until_a_past_time_has_no_effect(queue: Queue) -> None:
    queue.enqueue()
    pause(queue.database, queue="default", until=datetime(2001, 1, 1, tzinfo=UTC))

    assert list_controls(queue.database) == []
    assert len(queue.take()) == 1


def test_second_pause_replaces_the_first(queue: Queue) -> None:
    pause(queue.database, queue="mail", until=datetime(2500, 1, 1, tzinfo=UTC), reason="one")
    pause(queue.database, queue="mail", reason="two")

    assert [(each.queue, each.until, each.reason) for each in list_controls(queue.database)] == [
        ("mail", None, "two")
    ]
    assert resume(queue.database, queue="mail")
    assert not resume(queue.database, queue="mail")


def test_pause_and_limit_are_independent(queue: Queue) -> None:
    limit(queue.database, 3, queue="mail")
    pause(queue.database, queue="mail")
    (both,) = list_controls(queue.database)
    resume(queue.database, queue="mail")
    (left,) = list_controls(queue.database)

    assert (both.paused, both.limit) == (True, 3)
    assert (left.paused, left.limit) == (False, 3)


def test_pause_requires_a_scope_and_a_time_with_a_zone(direct_queue: Queue) -> None:
    with pytest.raises(InvalidJobError):
        pause(direct_queue.database)
    with pytest.raises(InvalidJobError):
        pause(direct_queue.database, queue="mail", until=datetime(2500, 1, 1))
    assert list_controls(direct_queue.database) == []


def test_list_has_the_number_of_running_jobs_of_a_pause(queue: Queue) -> None:
    queue.claimed(queue="mail")
    made = pause(queue.database, queue="mail", reason="release")

    (reported,) = list_controls(queue.database)
    assert reported == Control(queue="mail", paused=True, reason="release", changed=made.changed, busy=1)


def test_retrying_jobs_are_paused_too(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id, by=LONG)
    pause(queue.database, kind="echo")

    assert queue.take() == []
    assert queue.offer() == []
