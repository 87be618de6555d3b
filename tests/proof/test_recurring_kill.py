"""A worker of a recurring job that is killed at any point leaves exactly one next occurrence."""

from typing import Any
from uuid import UUID

import pytest
from proving import Sessions, sql
from test_kill import COMMITTED, POINTS, after_lease, finish_in_every_way, kill_at, next_event, run_jobs

from minutehand import Database, enqueue
from minutehand.queries.jobs import get, list_attempts
from tests import servers

pytestmark = [pytest.mark.every_server, pytest.mark.kill]

RECUR = "update minutehand.jobs_live set every = 'P1D', nominal = '2041-01-07 08:00+00' where id = %(id)s"
NEXT_OCCURRENCES = "select nominal, kind from minutehand.jobs where deleted is null and id <> %(id)s"


@pytest.fixture
def db(sessions: Sessions) -> Database:
    db = sessions()
    sql(db, "create table effects (job uuid)")
    return db


def next_occurrences(db: Database, job_id: UUID) -> list[tuple[Any, ...]]:
    return sql(db, NEXT_OCCURRENCES, id=job_id)


@pytest.mark.parametrize(("kind", "point"), POINTS)
def test_killed_worker_leaves_exactly_one_next_occurrence(
    database: servers.Database, db: Database, kind: str, point: str
) -> None:
    job_id = enqueue(kind, connection=db).id
    sql(db, RECUR, id=job_id)

    ack = kill_at(database, point, next_event(db))
    assert len(next_occurrences(db, job_id)) == (point in COMMITTED)
    after_lease(db, job_id)
    if point not in COMMITTED:
        assert run_jobs(db) == ["done"]

    assert finish_in_every_way(db, job_id, ack) == {"lost"}
    assert get(db, job_id).state == "done"
    ((nominal, next_kind),) = next_occurrences(db, job_id)
    assert (nominal.isoformat()[:10], next_kind) == ("2041-01-08", kind)
    outcomes = [attempt.outcome for attempt in list_attempts(db, job_id)]
    assert outcomes == (["done"] if point in COMMITTED else ["lapsed", "done"])
