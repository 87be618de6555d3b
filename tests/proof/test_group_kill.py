"""A worker that is killed repeats the attempts of one group of outcomes at most."""

import pytest
from proving import TTL, Sessions, sql, states
from test_kill import after_lease, kill_at, work

from minutehand import Database, enqueue
from minutehand.attempts.group import MOST_OUTCOMES
from minutehand.offer import offer
from tests import servers

pytestmark = [pytest.mark.every_server, pytest.mark.kill]

JOBS = MOST_OUTCOMES + 60


@pytest.fixture
def db(sessions: Sessions) -> Database:
    db = sessions()
    sql(db, "create table effects (job uuid)")
    return db


# The point, and how many attempts or groups reach it before.
@pytest.mark.parametrize(
    ("point", "passes"), [("handler", JOBS - 10), ("effect", JOBS - 10), ("finishing", 1), ("finished", 1)]
)
def test_killed_worker_repeats_one_group_at_most(
    database: servers.Database, db: Database, point: str, passes: int
) -> None:
    ids = [enqueue("effect", connection=db).id for _ in range(JOBS)]
    event = next_offers(db)

    kill_at(database, point, event, passes)
    after_lease(db, ids[0])
    done = states(db).get("done", 0)
    began = effects(db)
    endings = work(db, next_offers(db))

    assert endings == ["done"] * (JOBS - done)
    assert states(db) == {"done": JOBS}
    # The last attempt had begun, and its outcome was in no group.
    assert 0 <= began - done <= MOST_OUTCOMES + 1
    assert effects(db) - JOBS == began - done
    attempts = sql(db, "select outcome, count(*) from minutehand.attempts group by 1")
    assert dict(attempts)["done"] == JOBS


def next_offers(db: Database) -> dict[str, object]:
    """Offer all due jobs to one worker."""
    return {"offers": [[str(each.id), str(each.ack)] for each in offer(db, JOBS, TTL).offers]}


def effects(db: Database) -> int:
    count: int = sql(db, "select count(*) from effects")[0][0]
    return count
