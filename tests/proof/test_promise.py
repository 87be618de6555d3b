"""A job that is enqueued in a committed transaction is never lost, whatever inserted it and however late."""

from datetime import timedelta
from typing import LiteralString
from uuid import UUID

import pytest
from proving import GRACE, LEASE, Post, Sessions, pass_time, settings, sql

from minutehand import Database, enqueue
from minutehand.claim import claim, take
from minutehand.finish import finish
from minutehand.model.invitation import parse
from minutehand.model.outcome import Done
from minutehand.offer import offer
from minutehand.queries.jobs import get
from minutehand.tick import tick

pytestmark = pytest.mark.every_server

SWEEP = timedelta(minutes=11)
MINUTES = timedelta(minutes=5)


@pytest.fixture
def db(sessions: Sessions) -> Database:
    """A queue after a tick, so that its floor is a minute ago."""
    db = sessions()
    finished(db, enqueue("echo", connection=db).id)
    tick(db, Post(), settings())
    return db


@pytest.mark.parametrize("when", ["now()", "now() - interval '1 day'"])
def test_row_inserted_into_an_unknown_queue_is_found_immediately(db: Database, when: LiteralString) -> None:
    (row,) = sql(
        db,
        "insert into minutehand.jobs (kind, queue, priority, visible)"
        f" values ('echo', 'unknown', 7, {when}) returning id",
    )

    assert offered_ids(db) == {row[0]}


def test_row_committed_after_minutes_is_found_immediately(db: Database, sessions: Sessions) -> None:
    slow = sessions()
    with slow.transaction():
        late = enqueue("echo", connection=slow).id
        assert offered_ids(db) == set()
        pass_time(sessions(), MINUTES)
        assert offered_ids(db) == set()

    assert offered_ids(db) == {late}


def test_row_moved_into_the_past_is_found_immediately(db: Database) -> None:
    job_id = enqueue("echo", delay=timedelta(days=1), connection=db).id
    sql(db, "update minutehand.jobs set visible = now() - interval '1 day' where id = %(id)s", id=job_id)

    assert offered_ids(db) == {job_id}


def test_row_of_the_partition_moved_into_the_past_is_found_by_the_sweep(db: Database) -> None:
    job_id = enqueue("echo", delay=timedelta(days=1), connection=db).id
    assert offered_ids(db) == set()
    sql(db, "update minutehand.jobs_live set visible = now() - interval '1 day' where id = %(id)s", id=job_id)
    assert offered_ids(db) == set()

    pass_time(db, SWEEP)

    assert offered_ids(db) == {job_id}


def test_polling_worker_finds_rows_below_the_floor(db: Database) -> None:
    job_id = enqueue("echo", delay=timedelta(days=1), connection=db).id
    sql(db, "update minutehand.jobs set visible = now() - interval '1 day' where id = %(id)s", id=job_id)

    pass_time(db, SWEEP)
    tick(db, Post(), settings(capacity=1))
    pass_time(db, MINUTES)

    assert [job.id for job in take(db, "default", 5, LEASE, GRACE)] == [job_id]


def test_lost_or_wrong_floor_is_recomputed(db: Database) -> None:
    job_id = enqueue("echo", connection=db).id
    sql(db, "delete from minutehand.lane_changes")
    sql(db, "update minutehand.lanes set floor = 'infinity'")
    assert offered_ids(db) == set()
    pass_time(db, SWEEP)
    assert offered_ids(db) == {job_id}

    sql(db, "delete from minutehand.lanes")
    other = enqueue("echo", priority=9, connection=db).id
    pass_time(db, SWEEP)

    assert offered_ids(db) == {job_id, other}


def test_job_found_late_is_done(db: Database) -> None:
    (row,) = sql(db, "insert into minutehand.jobs (kind, queue) values ('echo', 'unknown') returning id")
    pass_time(db, SWEEP)
    post = Post()
    tick(db, post, settings())

    (event,) = post.events
    (job,) = claim(db, parse(event).offers, LEASE, GRACE)

    assert event["queue"] == "unknown"
    assert finish(job, Done()).ending == "done"
    assert get(db, row[0]).state == "done"


def offered_ids(db: Database) -> set[UUID]:
    """Return the jobs that a tick offers."""
    return {made.id for made in tick(db, Post(), settings()).offered.offers}


def finished(db: Database, job_id: UUID) -> None:
    (job,) = claim(db, offer(db, 1, LEASE).offers, LEASE, GRACE)
    assert job.id == job_id
    finish(job, Done())
