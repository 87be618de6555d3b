"""Two sessions change the same row: one succeeds, the other gets a typed outcome, and no driver error is raised."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event as Flag
from typing import Any
from uuid import UUID

import pytest
from proving import DEADLINE_SECONDS, GRACE, LEASE, TTL, WAITING, Sessions, sql, states, together

from minutehand import Database, Enqueued, Job, KeyTakenError, LostError, NewJob, enqueue, enqueue_many
from minutehand.claim import claim, take
from minutehand.finish import complete, finish
from minutehand.model.offer import Offer
from minutehand.model.outcome import Done, Failed, Released
from minutehand.offer import offer
from minutehand.operations.change import Change
from minutehand.operations.jobs import cancel, promote, reschedule
from minutehand.queries.jobs import get
from tests.waiting import until

pytestmark = pytest.mark.every_server

ENQUEUERS = 8
ROUNDS = 10


@pytest.mark.parametrize("on_conflict", ["replace", "ignore", "raise"])
def test_eight_concurrent_enqueues_of_a_key_leave_one_upcoming_job(
    sessions: Sessions, on_conflict: Any
) -> None:
    eight = [sessions() for _ in range(ENQUEUERS)]

    for number in range(ROUNDS):
        # Each has its own payload, because an identical job in the same microsecond would be "ignored".
        enqueued = together(
            [
                partial(enqueue_keyed, session, n, f"key/{number}", on_conflict)
                for n, session in enumerate(eight)
            ]
        )

        later = {"replace": "replaced", "ignore": "ignored", "raise": "KeyTakenError"}[on_conflict]
        assert Counter(outcome for outcome, _ in enqueued) == {"created": 1, later: ENQUEUERS - 1}
        assert len({job_id for _, job_id in enqueued if job_id}) == 1
    assert states(eight[0]) == {"due": ROUNDS}


def test_key_replaced_during_work_keeps_its_latest_job(sessions: Sessions) -> None:
    ended = Flag()

    def enqueues(session: Database) -> list[Enqueued]:
        enqueued = [enqueue("echo", n, key="one", connection=session) for n in range(400)]
        ended.set()
        return enqueued

    def works(session: Database) -> list[Job]:
        done = []
        while True:
            last = ended.is_set()
            jobs = take(session, "default", 1, LEASE, GRACE)
            done += [job for job in jobs if finish(job, Done()).ending == "done"]
            if last and not jobs:
                return done

    enqueued, *worked = together([partial(role, sessions()) for role in (enqueues, works, works, works)])

    done = {job.payload for jobs in worked for job in jobs}
    unrun = [n for n in range(400) if n not in done]
    assert len(done) == sum(map(len, worked))
    assert {enqueued[n + 1].outcome for n in unrun} <= {"replaced"}
    assert sum(one.outcome == "created" for one in enqueued) == len(done)
    assert states(sessions()) == {"done": len(done)}


def test_job_cancelled_during_a_claim_is_done_or_cancelled(sessions: Sessions) -> None:
    changes, owned = operate_while_claimed(sessions, lambda db, job_id: cancel(db, [job_id]))

    cancelled = {change.id for change in changes if change.outcome == "changed"}
    assert {change.outcome for change in changes} <= {"changed", "refused"}
    assert cancelled.isdisjoint(owned)
    assert len(cancelled) + len(owned) == 300
    assert sum(states(sessions()).values()) == 300


@pytest.mark.parametrize(
    "change",
    [promote, lambda db, ids: reschedule(db, ids, datetime.now(UTC))],
    ids=["promoted", "rescheduled"],
)
def test_job_rescheduled_during_a_claim_is_done_once(
    sessions: Sessions, change: Callable[..., list[Change]]
) -> None:
    changes, owned = operate_while_claimed(sessions, lambda db, job_id: change(db, [job_id]))

    assert {change.outcome for change in changes} <= {"changed", "refused"}
    assert len(owned) == len(set(owned)) == 300
    assert states(sessions()) == {"done": 300}


def test_offers_continue_while_jobs_at_the_head_are_cancelled(sessions: Sessions) -> None:
    ids = fill(sessions(), 3000)
    session = sessions()

    def cancels() -> int:
        chunks = [ids[start : start + 50] for start in range(0, len(ids), 50)]
        return sum(change.outcome == "changed" for chunk in chunks for change in cancel(session, chunk))

    def offers(session: Database) -> int:
        return sum(len(offer(session, 100, timedelta(milliseconds=1)).offers) for _ in range(100))

    cancelled, _ = together([cancels, partial(offers, sessions())])

    assert states(session)["cancelled"] == cancelled == len(ids)


WAITS: dict[str, Callable[[Database, Job, Offer], Any]] = {
    "finish": lambda db, job, _: finish(in_session(db, job), Done()).ending,
    "finish with a retry": lambda db, job, _: (
        finish(in_session(db, job), Failed({"type": "E", "message": ""})).ending
    ),
    "finish with a release": lambda db, job, _: finish(in_session(db, job), Released()).ending,
    "finish in a transaction": lambda db, job, _: transact(in_session(db, job)),
    "claim": lambda db, _, offered: "lost" if not claim(db, [offered], LEASE, GRACE) else "claimed",
    "promote": lambda db, job, _: promote(db, [job.id])[0].outcome,
    "reschedule": lambda db, job, _: reschedule(db, [job.id], datetime.now(UTC))[0].outcome,
    "cancel": lambda db, job, _: cancel(db, [job.id])[0].outcome,
}


@pytest.mark.parametrize("what", WAITS)
def test_waiter_gets_conflict_when_row_was_finished(sessions: Sessions, what: str) -> None:
    """The row moves to another partition, so Postgres raises 40001 in the waiting session."""
    db, other = sessions(), sessions()
    job_id = enqueue("echo", connection=db).id
    (offered,) = offer(db, 1, TTL).offers
    job = Job.from_record({**FACTS, "id": job_id, "ack": offered.ack}, db, LEASE, GRACE)
    locked = Flag()

    def finishes() -> None:
        with db.transaction():
            complete(job, None)
            locked.set()
            until(lambda: sql(db, WAITING)[0][0])

    def waits() -> Any:
        assert locked.wait(DEADLINE_SECONDS)
        return WAITS[what](other, job, offered)

    _, outcome = together([finishes, waits])

    assert outcome in ("lost", "refused")
    assert get(db, job_id).state == "done"


FACTS: dict[str, Any] = {
    **dict.fromkeys(["key", "payload", "headers", "retry", "timeout"]),
    **dict.fromkeys(["enqueued", "run_at", "claimed"], datetime.now(UTC)),
    "queue": "default",
    "kind": "echo",
    "priority": 5,
    "attempts": 1,
    "max_attempts": 8,
    "visible": datetime.now(UTC) + LEASE,
}


def transact(job: Job) -> str:
    try:
        with job.transaction() as connection:
            connection.execute("create table effects ()")
    except LostError:
        assert sql(job.database, "select to_regclass('effects')") == [(None,)]
        return "lost"
    return "done"


def in_session(db: Database, job: Job) -> Job:
    """Return the same claim in another session."""
    return replace(job, lease=replace(job.lease, database=db))


def enqueue_keyed(db: Database, payload: int, key: str, on_conflict: Any) -> tuple[str, UUID | None]:
    try:
        enqueued = enqueue("echo", payload, key=key, on_conflict=on_conflict, connection=db)
    except KeyTakenError as error:
        return type(error).__name__, None
    return enqueued.outcome, enqueued.id


def fill(db: Database, count: int) -> list[UUID]:
    return [
        one.id
        for one in enqueue_many((NewJob("echo", n) for n in range(count)), connection=db)
        if one.outcome == "created"
    ]


def operate_while_claimed(
    sessions: Sessions, change: Callable[[Database, UUID], list[Change]]
) -> tuple[list[Change], list[UUID]]:
    """Change 300 jobs one by one, from the last, while four workers claim them; return changes and finished jobs."""
    ids = fill(sessions(), 300)

    def operates(session: Database) -> list[Change]:
        return [made for job_id in reversed(ids) for made in change(session, job_id)]

    def works(session: Database, invited: bool) -> list[UUID]:
        done: list[UUID] = []
        while set(states(session)) - {"done", "cancelled"}:
            jobs = (
                claim(session, offer(session, 20, TTL).offers, LEASE, GRACE)
                if invited
                else take(session, "default", 2, LEASE, GRACE)
            )
            done += [job.id for job in jobs if finish(job, Done()).ending == "done"]
        return done

    workers = [partial(works, sessions(), invited) for invited in (True, False, True, False)]
    changes, *owned = together([partial(operates, sessions()), *workers])
    return changes, [job_id for many in owned for job_id in many]
