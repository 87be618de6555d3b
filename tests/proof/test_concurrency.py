"""Many workers and dispatchers at the same time: each attempt has one owner, the capacity holds, and no job is lost."""

import json
from collections import Counter
from datetime import timedelta
from functools import partial
from random import Random
from threading import Event as Flag
from typing import Any

import pytest
from proving import (
    GRACE,
    LEASE,
    TTL,
    WAITING,
    Post,
    Sessions,
    pass_time,
    processes,
    settings,
    sql,
    states,
    together,
)

from minutehand import Database, NewJob, Retry, enqueue_many
from minutehand.claim import claim
from minutehand.finish import finish
from minutehand.model.invitation import parse
from minutehand.model.outcome import Done
from minutehand.offer import offer
from minutehand.tick import tick
from tests import servers
from tests.thorough import amount
from tests.waiting import until

pytestmark = pytest.mark.every_server

CLAIMERS = amount(3, 8)
JOBS = amount(600, 10_000)
AT_ONCE = Retry(strategy="fixed", min=timedelta(), max=timedelta(), jitter=False)

Record = dict[str, Any]


@pytest.mark.thorough
def test_each_attempt_has_one_owner_with_eight_takers(database: servers.Database, db: Database) -> None:
    fill(db, JOBS)

    owned = processes("claimer.py", [([database.url, "take", "7"], "")] * CLAIMERS)

    check_owners(owned, JOBS)
    assert states(db) == {"done": JOBS}


@pytest.mark.thorough
def test_each_attempt_has_one_owner_with_duplicate_shuffled_events(
    database: servers.Database, db: Database
) -> None:
    fill(db, JOBS)
    post = Post()
    tick(db, post, settings(capacity=JOBS))
    assert len(post.events) == JOBS

    owned = deliver(database, post.events * 2)
    pass_time(db)
    again = Post()
    tick(db, again, settings(capacity=JOBS))
    owned += deliver(database, again.events * 2 + post.events)

    assert len(again.events) == flaky(JOBS)
    check_owners(owned, JOBS)
    assert states(db) == {"done": JOBS}


def test_jobs_with_lost_events_are_offered_again_and_done_once(
    database: servers.Database, db: Database
) -> None:
    fill(db, 300)
    owned: list[Record] = []
    late: list[Record] = []
    for start in range(5):
        post = Post()
        tick(db, post, settings(capacity=300))
        lost = post.events[start::3] if start < 3 else []
        owned += deliver(database, [event for event in post.events if event not in lost] + late)
        late = lost
        pass_time(db)

    check_owners(owned, 300)
    assert states(db) == {"done": 300}


def test_three_dispatchers_never_exceed_the_capacity(sessions: Sessions) -> None:
    capacity, count = 20, 600
    fill(sessions(), count)
    post, ended = Post(), Flag()

    def dispatch(session: Database) -> Any:
        offered = []
        while not ended.is_set():
            offered.append(len(tick(session, post, settings(capacity)).offered.offers))
        return offered

    def run_jobs(session: Database) -> Any:
        worked = 0
        while not ended.is_set():
            try:
                event = post.events.pop()
            except IndexError:
                ended.set() if states(session).get("done") == count else None
                continue
            for job in claim(session, parse(event).offers, LEASE, GRACE):
                worked += finish(job, Done()).ending == "done"
        return worked

    def sample(session: Database) -> Any:
        seen = []
        while not ended.is_set():
            seen.append(sql(session, BUSY)[0][0])
        return seen

    roles = [dispatch] * 3 + [run_jobs] * 3 + [sample]
    *_, seen = results = together([partial(role, sessions()) for role in roles])

    assert max(seen) <= capacity
    assert all(offered <= capacity for offers in results[:3] for offered in offers)
    assert sum(sum(offers) for offers in results[:3]) == count == sum(results[3:6])


def test_concurrent_dispatchers_share_the_capacity(sessions: Sessions) -> None:
    fill(sessions(), 100)

    offers = together([partial(offer, sessions(), 30, TTL) for _ in range(6)])

    assert sum(len(made.offers) for made in offers) == 30
    assert len({made.id for many in offers for made in many.offers}) == 30


def test_capacity_is_counted_by_one_dispatcher_at_a_time(sessions: Sessions) -> None:
    """Jobs of a higher priority that arrive in between do not make the second dispatcher exceed the capacity."""
    first, second, third = sessions(), sessions(), sessions()
    fill(third, 30)
    ready, ended = Flag(), Flag()

    def offers_slowly() -> int:
        with first.transaction():
            made = offer(first, 30, TTL).offers
            assert list(enqueue_many((NewJob("echo", priority=9) for _ in range(30)), connection=third))
            ready.set()
            until(lambda: ended.is_set() or sql(third, WAITING)[0][0])
        return len(made)

    def offers_too() -> int:
        ready.wait(TTL.total_seconds())
        made = offer(second, 30, TTL).offers
        ended.set()
        return len(made)

    assert together([offers_slowly, offers_too]) == [30, 0]


BUSY = """select count(*) from minutehand.jobs
           where deleted is null and ack is not null and visible > clock_timestamp()"""


def fill(db: Database, count: int) -> None:
    """Enqueue due jobs; every tenth fails at first, and is due again immediately."""
    made = (
        NewJob("echo", "flaky" if n % 10 == 0 else n, retry=AT_ONCE, priority=n % 3) for n in range(count)
    )
    assert all(one.outcome == "created" for one in enqueue_many(made, connection=db))


def flaky(count: int) -> int:
    return len(range(0, count, 10))


def deliver(database: servers.Database, events: list[Record]) -> list[Record]:
    """Give each event to one of the claimers, in random order."""
    lines = [json.dumps(event) for event in events]
    Random(len(lines)).shuffle(lines)
    batches = ["\n".join(lines[start::CLAIMERS]) for start in range(CLAIMERS)]
    return processes("claimer.py", [([database.url, "events", "1"], batch) for batch in batches])


def check_owners(owned: list[Record], count: int) -> None:
    """Check that each attempt has one owner, and each job was done once."""
    owners = Counter((record["job"], record["attempt"]) for record in owned)
    done = Counter(record["job"] for record in owned if record["ending"] == "done")

    assert set(owners.values()) == {1}
    assert set(done.values()) == {1}
    assert len(done) == count
    assert len(owners) == count + flaky(count)
    assert {record["ending"] for record in owned} <= {"done", "retrying"}
