"""Pause: what is paused is neither offered nor taken, on any node, until it is resumed or its time is up."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import InvalidJobError
from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.operations.controls import Control, limit, list_controls, pause, resume
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
    """An invoker that keeps the events."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def invoke(self, _: str, event: dict[str, Any]) -> None:
        self.events.append(event)


def enqueue(stage: Queue, payload: str, **options: Any) -> None:
    stage.enqueue(options.pop("kind", "echo"), payload, **options)


@pytest.fixture(params=WHAT, ids=list(WHAT))
def what(request: pytest.FixtureRequest, queue: Queue) -> dict[str, str]:
    """What is paused; due is one job that the pause is about, and others that share all but one name with it."""
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


@pytest.mark.fault(
    "take", r"exists \(select from minutehand.controls where queue in [^\n]*\) as yes", "false as yes"
)
def test_what_is_paused_is_not_taken_and_the_rest_is(queue: Queue, what: dict[str, str]) -> None:
    pause(queue.database, **what)  # type: ignore[arg-type]

    free = taken(queue)
    assert set(free) == {"free"}
    assert taken(queue) == []
    assert resume(queue.database, **what)
    assert taken(queue) == ["paused"]


@pytest.mark.fault("offer", r"exists \(select from minutehand.controls\)", "false")
def test_what_is_paused_is_not_offered_and_the_rest_is(queue: Queue, what: dict[str, str]) -> None:
    queue.sql("update minutehand.lanes set shared = false")
    pause(queue.database, **what)  # type: ignore[arg-type]

    assert set(offered(queue)) == {"free"}
    assert offered(queue) == []
    assert resume(queue.database, **what)
    assert offered(queue) == ["paused"]


def test_a_paused_tenants_jobs_are_not_offered_and_those_of_others_are(queue: Queue) -> None:
    for tenant in ("acme", "other", ""):
        queue.enqueue(payload=tenant, tenant=tenant)
    pause(queue.database, tenant="acme")

    assert sorted(offered(queue)) == ["", "other"]


@pytest.mark.fault("count_due", r"exists \(select from minutehand.controls where paused\)", "false")
def test_what_is_paused_is_not_counted_as_due(queue: Queue, what: dict[str, str]) -> None:
    before = sum(record["due"] for record in queue.database.run("count_due", limit=100, now=None))
    pause(queue.database, **what)  # type: ignore[arg-type]

    assert sum(record["due"] for record in queue.database.run("count_due", limit=100, now=None)) == before - 1


def test_a_tick_invites_nobody_to_what_is_paused(queue: Queue) -> None:
    queue.enqueue()
    pause(queue.database, queue="default")
    post, settings = Post(), Settings(capacity=50, chunk=1, offer_ttl=timedelta(minutes=2))

    assert tick(queue.database, post, settings).due == {}
    resume(queue.database, queue="default")
    assert tick(queue.database, post, settings).due == {"default": 1}
    assert len(post.events) == 1


@pytest.mark.fault("recall", r"set ack = case.*?end, prior = null, offered = null", "set prior = j.prior")
def test_an_offer_that_is_under_way_when_its_queue_is_paused_finds_nothing_to_claim(queue: Queue) -> None:
    queue.enqueue()
    running, other = queue.claimed(queue="mail"), queue.enqueue(queue="mail")
    offers = queue.offer()
    pause(queue.database, queue="mail")

    assert [job.queue for job in queue.claim(*offers)] == ["default"]
    assert queue.row(other).state == "due"
    assert finish(running, Done()).ending == "done"


@pytest.mark.fault(
    "recall", r"set ack = case when j.claimed is not null then j.prior end", "set ack = j.prior"
)
def test_no_invitation_to_what_is_paused_is_good_however_late_it_comes(queue: Queue) -> None:
    job_id = queue.enqueue()
    late = queue.offer()
    queue.pass_time(job_id)
    again = queue.offer()
    pause(queue.database, queue="default")

    assert queue.claim(*late) == queue.claim(*again) == []


def test_the_late_finish_of_a_lapsed_claim_is_still_good_when_its_queue_was_paused(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id)
    queue.offer()
    pause(queue.database, queue="default")

    assert finish(job, Done()).ending == "done"


@pytest.mark.fault("hold", r"minutehand.hold_ticks\(\)", "1")
def test_no_tick_that_has_begun_offers_what_was_paused_meanwhile(queue: Queue) -> None:
    queue.enqueue()
    other = queue.another()
    with other.transaction():
        pause(other, queue="default")
        offering = queue.let(queue.offer)
        queue.until_done_or_waiting(offering)
        waited = not offering.done()

    assert waited
    assert offering.result() == []


def test_a_pause_ends_by_itself_at_its_moment(queue: Queue) -> None:
    (row,) = queue.sql("select id, clock_timestamp() as now from minutehand.enqueue('echo')")
    until = row["now"] + timedelta(hours=1)
    pause(queue.database, queue="default", until=until)

    assert queue.offer(now=until - timedelta(seconds=1)) == []
    assert [each.until for each in list_controls(queue.database)] == [until]
    assert [offer.id for offer in queue.offer(now=until)] == [row["id"]]


def test_a_pause_whose_moment_is_past_holds_nothing_up(queue: Queue) -> None:
    queue.enqueue()
    pause(queue.database, queue="default", until=datetime(2001, 1, 1, tzinfo=UTC))

    assert list_controls(queue.database) == []
    assert len(queue.take()) == 1


def test_a_pause_said_twice_is_one_and_the_later_says_until_when(queue: Queue) -> None:
    pause(queue.database, queue="mail", until=datetime(2500, 1, 1, tzinfo=UTC), why="one")
    pause(queue.database, queue="mail", why="two")

    assert [(each.queue, each.until, each.why) for each in list_controls(queue.database)] == [
        ("mail", None, "two")
    ]
    assert resume(queue.database, queue="mail")
    assert not resume(queue.database, queue="mail")


def test_a_pause_leaves_a_limit_and_a_limit_a_pause(queue: Queue) -> None:
    limit(queue.database, 3, queue="mail")
    pause(queue.database, queue="mail")
    (both,) = list_controls(queue.database)
    resume(queue.database, queue="mail")
    (left,) = list_controls(queue.database)

    assert (both.paused, both.most) == (True, 3)
    assert (left.paused, left.most) == (False, 3)


def test_a_pause_names_something_and_a_moment_with_its_zone(direct_queue: Queue) -> None:
    with pytest.raises(InvalidJobError):
        pause(direct_queue.database)
    with pytest.raises(InvalidJobError):
        pause(direct_queue.database, queue="mail", until=datetime(2500, 1, 1))
    assert list_controls(direct_queue.database) == []


def test_the_list_tells_how_many_of_what_is_paused_still_run(queue: Queue) -> None:
    queue.claimed(queue="mail")
    made = pause(queue.database, queue="mail", why="release")

    (told,) = list_controls(queue.database)
    assert told == Control(queue="mail", paused=True, why="release", changed=made.changed, busy=1)


def test_what_waits_for_a_retry_is_paused_like_the_rest(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id, by=LONG)
    pause(queue.database, kind="echo")

    assert queue.take() == []
    assert queue.offer() == []
