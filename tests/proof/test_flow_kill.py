"""Workers that are killed while successors wait, or as probes of a breaker: nothing is lost or starts early."""

from datetime import timedelta
from random import Random

import pytest
from proving import GRACE, LEASE, TTL, Sessions, sql, states
from test_kill import after_lease, kill_at, work

from minutehand import Database, enqueue
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Failed
from minutehand.offer import offer
from minutehand.operations.controls import limit
from tests import servers

pytestmark = [pytest.mark.every_server, pytest.mark.kill]

JOBS = 60
POINTS = {"effect": ["claimed", "handler", "effect", "finishing"], "transact": ["transaction", "settled"]}
ERROR = {"type": "ValueError", "message": "no"}
EARLY = """select s.id from minutehand.jobs s join minutehand.attempts a on a.job = s.id, unnest(s.after) p (id)
             join minutehand.jobs j on j.id = p.id
            where a.outcome = 'done' and (j.deleted is null or a.started < j.deleted)"""
WAITING = (
    "select (select count(*) from minutehand.waits) + (select count(*) from minutehand.predecessor_checks)"
)
HALF_OPEN = "update minutehand.breakers set open_until = clock_timestamp() where open_until is not null"


@pytest.fixture
def db(sessions: Sessions) -> Database:
    db = sessions()
    sql(db, "create table effects (job uuid)")
    return db


def next_offers(db: Database) -> dict[str, object]:
    """Offer due jobs to one worker, after maintenance as in a tick."""
    run_maintenance(db)
    return {"offers": [[str(each.id), str(each.ack)] for each in offer(db, JOBS, TTL).offers]}


@pytest.mark.parametrize("kind", POINTS)
@pytest.mark.parametrize("seed", range(5))
def test_killed_workers_release_successors_in_time(
    database: servers.Database, db: Database, kind: str, seed: int
) -> None:
    random = Random(f"{kind}/{seed}")
    limit(db, 3, per="group", queue="default")
    ids = [enqueue(kind, connection=db).id for _ in range(10)]
    for _ in range(JOBS - 10):
        before = random.sample(ids[-10:], random.randint(1, 2))
        group = random.choice(("a", "b", None))
        ids.append(enqueue(kind, after=before, group=group, connection=db).id)

    for _ in range(3):
        event = next_offers(db)
        kill_at(database, random.choice(POINTS[kind]), event)
        after_lease(db, ids[0])
    for _ in range(JOBS):
        work(db, next_offers(db))

    assert states(db) == {"done": JOBS}
    assert sql(db, WAITING) == [(0,)]
    assert sql(db, EARLY) == []


@pytest.mark.parametrize("point", POINTS["effect"])
def test_probe_of_a_killed_worker_is_followed_by_one_other(
    database: servers.Database, db: Database, point: str
) -> None:
    limit(db, 5, per="group", queue="default", break_after=2, break_for=timedelta(hours=1))
    ids = [enqueue("effect", group="a", connection=db).id for _ in range(8)]
    for job in take(db, "default", 2, LEASE, GRACE):
        assert finish(job, Failed(ERROR, timedelta())).ending == "retrying"
    assert next_offers(db) == {"offers": []}
    sql(db, HALF_OPEN)

    for _ in range(2):
        event = next_offers(db)
        assert len(event["offers"]) == 1  # type: ignore[arg-type]
        kill_at(database, point, event)
        assert next_offers(db) == {"offers": []}
        after_lease(db, ids[0])
    assert work(db, next_offers(db)) == ["done"]
    for _ in ids:
        work(db, next_offers(db))

    assert states(db) == {"done": len(ids)}
