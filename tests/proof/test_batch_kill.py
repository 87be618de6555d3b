"""Workers that are killed while a batch ends: its callback is enqueued once, and not before the last job has ended."""

from random import Random
from uuid import UUID

import pytest
from proving import TTL, Sessions, sql, states
from test_kill import after_lease, kill_at, work

from minutehand import Database, NewJob
from minutehand.batches import batch
from minutehand.offer import offer
from minutehand.queries.batches import get_batch
from tests import servers

pytestmark = [pytest.mark.every_server, pytest.mark.kill]

JOBS = 200
CALLBACKS = "select count(*) from minutehand.jobs where kind = 'complete'"


@pytest.fixture
def db(sessions: Sessions) -> Database:
    db = sessions()
    sql(db, "create table effects (job uuid)")
    return db


@pytest.mark.parametrize("kind", ["effect", "transact"])
@pytest.mark.parametrize("seed", range(5))
def test_killed_workers_end_a_batch_once(
    database: servers.Database, db: Database, kind: str, seed: int
) -> None:
    random = Random(f"{kind}/{seed}")
    with batch(connection=db, on_complete=NewJob("complete", queue="callbacks")) as b:
        b.enqueue_many(NewJob(kind) for _ in range(JOBS))

    for _ in range(3):
        kill_somewhere(database, db, kind, random)
        assert callbacks(db) == (1 if open_jobs(db, b.id) == 0 else 0)
        (first,) = sql(db, "select id from minutehand.jobs where kind = %(kind)s limit 1", kind=kind)
        after_lease(db, first[0])
    while open_jobs(db, b.id):
        assert callbacks(db) == 0
        work(db, next_offers(db))

    assert callbacks(db) == 1
    row = get_batch(db, b.id)
    assert (row.state, row.done, row.open) == ("ended", JOBS, 0)
    assert states(db) == {"done": JOBS, "due": 1}


def kill_somewhere(database: servers.Database, db: Database, kind: str, random: Random) -> None:
    """Kill a worker at a random point of a random one of its jobs, or groups of outcomes."""
    event = next_offers(db)
    points = {"effect": ["handler", "effect", "finishing"], "transact": ["transaction", "settled"]}[kind]
    point = random.choice(points)
    most = 1 if point == "finishing" else max(1, len(event["offers"]) // 2)  # type: ignore[arg-type]
    kill_at(database, point, event, random.randint(1, most))


def next_offers(db: Database) -> dict[str, object]:
    """Offer due jobs of the batch to one worker."""
    sql(db, "update minutehand.jobs_live set visible = visible + interval '1 day' where kind = 'complete'")
    return {"offers": [[str(each.id), str(each.ack)] for each in offer(db, JOBS, TTL).offers]}


def callbacks(db: Database) -> int:
    count: int = sql(db, CALLBACKS)[0][0]
    return count


def open_jobs(db: Database, batch_id: UUID) -> int:
    """Count the jobs of the batch whose rows have not ended."""
    query = "select count(*) from minutehand.jobs_live where batch = %(batch)s"
    count: int = sql(db, query, batch=batch_id)[0][0]
    return count
