"""Every committed job is found without a sweep, whatever its transaction does while ticks change the lanes."""

from collections.abc import Callable
from functools import partial
from random import Random
from threading import Event

import pytest
from proving import GRACE, LEASE, Sessions, sql, together

from minutehand import Database, enqueue
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Released

pytestmark = pytest.mark.every_server

TRANSACTIONS = 40
NO_SWEEP = "update minutehand.dispatcher set swept = now() + interval '5 minutes'"
REPEATABLE_READ = "set transaction isolation level repeatable read"


def test_jobs_are_found_while_lanes_change(sessions: Sessions) -> None:
    main, ended = sessions(), Event()
    sql(main, NO_SWEEP)

    def enqueue_some(session: Database, seed: int) -> int:
        random = Random(seed)
        return sum(transaction(session, random) for _ in range(TRANSACTIONS))

    def maintain(session: Database) -> int:
        while not ended.is_set():
            run_maintenance(session)
        return 0

    def work(session: Database, seed: int) -> int:
        random, done = Random(seed), 0
        while not ended.is_set():
            done += handle(session, random)
        return done

    def all_enqueued() -> int:
        try:
            return sum(together([partial(enqueue_some, sessions(), seed) for seed in range(4)]))
        finally:
            ended.set()

    calls: list[Callable[[], int]] = [all_enqueued, *(partial(maintain, sessions()) for _ in range(2))]
    committed, *_, handled = together([*calls, partial(work, sessions(), 9)])
    run_maintenance(main)
    while part := handle(main):
        handled += part

    assert handled == committed
    assert sql(main, "select count(*) from minutehand.jobs_live") == [(0,)]


def transaction(session: Database, random: Random) -> int:
    """Enqueue jobs in some way, and perhaps roll back; return how many were committed."""
    count = 0
    with session.transaction() as connection:
        if random.random() < 0.3:
            connection.execute(REPEATABLE_READ)
            connection.execute("select count(*) from minutehand.lanes")
        for _ in range(random.randint(1, 3)):
            connection.execute("savepoint one")
            enqueue("echo", queue=random.choice("abc"), connection=session)
            kept = random.random() < 0.7
            connection.execute("release savepoint one" if kept else "rollback to savepoint one")
            count += kept
    return count


def handle(session: Database, random: Random | None = None) -> int:
    """Take jobs of each queue, and finish or perhaps release them; return how many were finished."""
    done = 0
    for queue in "abc":
        for job in take(session, queue, 5, LEASE, GRACE):
            outcome = Released(GRACE * 0) if random and random.random() < 0.2 else Done()
            done += finish(job, outcome).ending == "done"
    return done
