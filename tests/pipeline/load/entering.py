"""Enter jobs through put_all, or stage them and enter them as a load."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg

# kind, payload, queue, key, run_at, delay in seconds, priority, max_attempts, retry, timeout, headers, personal, tenant
Item = tuple[Any, ...]
RETRY = '{"strategy": "fixed", "min": 1, "max": 2, "factor": 1, "jitter": false}'
ITEMS: list[Item] = [
    ("plain", None, None, None, None, None, None, None, None, None, None, None, None),
    ("k", '{"n": 1.10}', None, "a", None, None, None, None, None, None, None, None, None),
    ("k", "2", None, "a", None, 60.5, 9, 3, RETRY, 30.0, '{"h": "1"}', True, None),
    ("k", "3", "other", "a", "2099-01-01 00:00+00", None, 0, 1, None, None, None, False, None),
    ("k", "4", None, "a", None, None, None, None, None, None, None, None, "acme"),
    ("k", "5", "mail", "b", "2001-01-01 00:00+00", None, None, None, None, None, None, None, None),
    ("k", "6", None, "b", None, None, None, None, None, None, None, None, None),
    ("k", "same", None, "there", None, None, None, None, None, None, None, None, None),
    ("k", "7", None, "tried", "2099-01-01 00:00+00", None, None, None, None, None, None, None, None),
    ("other", "8", None, "running", None, None, None, None, None, None, None, None, None),
    ("other", "9", "slow", None, None, None, None, None, None, None, None, None, None),
]
ITEMS[7] = ("k", '"same"', *ITEMS[7][2:])
THERE = """
insert into minutehand.defaults (kind, queue, max_attempts, timeout) values ('k', 'mail', 4, '9 s');
insert into minutehand.queue_defaults (queue, priority, retry) values ('mail', 3, null), ('slow', 1, null);
select minutehand.enqueue('old', '0', queue => 'mail', key => 'a', delay => '1 h', headers => '{"x": "y"}'),
       minutehand.enqueue('old', '0', queue => 'mail', key => 'there', every => 'PT1H', debounce => null),
       minutehand.enqueue('old', '0', queue => 'mail', key => 'tried'),
       minutehand.enqueue('old', '0', queue => 'default', key => 'running');
update minutehand.jobs_live set attempts = 2, error = '{"type": "E"}' where key = 'tried';
update minutehand.jobs_live set attempts = 1, claimed = now(), ack = gen_random_uuid() where key = 'running';
update minutehand.jobs_live set offered = now(), ack = gen_random_uuid() where key = 'a';
"""


def put(connection: psycopg.Connection, items: list[Item], on_conflict: str) -> Counter[str]:
    """Enqueue through put_all."""
    load = uuid4()
    for ordinal, item in enumerate(items):
        connection.execute(
            "insert into minutehand.new_jobs (load, ordinal, kind, payload, queue, key, run_at, delay, priority,"
            " max_attempts, retry, timeout, headers, personal, tenant) values (%s, %s, %s, %s, %s, %s, %s,"
            " %s * interval '1 s', %s, %s, %s, %s * interval '1 s', %s, %s, %s)",
            [load, ordinal, *item],
        )
    found = connection.execute("select outcome from minutehand.enqueue_incoming(%s, %s)", [load, on_conflict])
    return Counter(outcome for (outcome,) in found.fetchall())


def stage(
    connection: psycopg.Connection, items: list[Item], slices: int = 3, load: str = "l"
) -> dict[str, Any]:
    """Stage items in slices, each twice as after a failed attempt; return the parameters of the load."""
    run = uuid4()
    connection.execute("select minutehand.begin_load(%s, %s)", [load, run])
    parts = [items[n::1][:slices] for n in range(0, len(items), slices)]
    attempts = [str(uuid4()) for _ in parts]
    for attempt in ("dead", None):
        for number, part in enumerate(parts):
            for ordinal, item in enumerate(part):
                connection.execute(
                    f"insert into minutehand.staged_{run.hex} (attempt, slice, ordinal, kind, payload, queue, key,"
                    " run_at, delay, priority, max_attempts, retry, timeout, headers, personal, of_tenant)"
                    f" values ({', '.join(['%s'] * 16)})",
                    [attempt or attempts[number], number, ordinal, *item],
                )
    return {
        "load": load,
        "run": run,
        "attempts": attempts,
        "slices": list(range(len(parts))),
        "befores": [slices * number for number in range(len(parts))],
        "expected": len(items),
    }


def enter(connection: psycopg.Connection, staged: dict[str, Any], on_conflict: str) -> tuple[Any, ...]:
    found = connection.execute(
        "select fresh, created, replaced, ignored from minutehand.enqueue_load(%(load)s, %(run)s, %(attempts)s,"
        " %(slices)s, %(befores)s, %(on_conflict)s, 0, %(expected)s)",
        staged | {"on_conflict": on_conflict},
    )
    return found.fetchone() or ()


START = datetime(2099, 1, 1, tzinfo=UTC)


def staged_many(connection: psycopg.Connection, jobs: int) -> dict[str, Any]:
    """Stage jobs in slices of a thousand; return the parameters that enter them from START."""
    run = uuid4()
    connection.execute("select minutehand.begin_load('l', %s)", [run])
    connection.execute(
        f"insert into minutehand.staged_{run.hex} (attempt, slice, ordinal, kind)"
        " select 'a', n / 1000, n %% 1000, 'k' from generate_series(0, %s - 1) n",
        [jobs],
    )
    slices = list(range(-(-jobs // 1000)))
    return {
        "load": "l",
        "run": run,
        "attempts": ["a"] * len(slices),
        "slices": slices,
        "befores": [1000 * slice for slice in slices],
        "on_conflict": "replace",
        "rejected": 0,
        "expected": jobs,
        "starts": START,
    }
