"""Turns: tenants that share a queue get equal parts of its offers, whatever their backlogs."""

from collections import Counter

import pytest

from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.operations.controls import limit, pause
from tests.queue.stage import LONG, Queue

# More than a tick reads at the head of a lane.
BACKLOG = 120
FILL = """
insert into minutehand.jobs_live (queue, kind, tenant, run_at, visible)
select 'mail', 'slow', %(tenant)s, moment, moment
  from (select now() - interval '1 hour' + n * interval '1 ms' as moment from generate_series(1, %(count)s) n) made
"""
GROUPED = """
insert into minutehand.jobs_live (queue, kind, tenant, "group", run_at, visible)
select 'mail', 'slow', %(tenant)s, 'g', clock_timestamp(), now() - interval '1 hour' from generate_series(1, %(count)s)
"""
TENANTS = "select tenant from minutehand.jobs where id = any (%(ids)s)"


def fill(stage: Queue, count: int, tenant: str) -> None:
    """Enqueue jobs that have been due for an hour."""
    stage.sql(FILL, tenant=tenant, count=count)


def enqueue(stage: Queue, *tenants: str, **options: int) -> None:
    """Enqueue a job of each tenant that has just become due."""
    for tenant in tenants:
        stage.enqueue("slow", queue="mail", tenant=tenant, **options)


def offered(stage: Queue, capacity: int) -> Counter[str]:
    """Return the number of new offers by tenant."""
    rows = stage.sql(TENANTS, ids=[offer.id for offer in stage.offer(capacity)])
    return Counter(row["tenant"] for row in rows)


@pytest.mark.every_version
@pytest.mark.parametrize("backlog", [0, BACKLOG], ids=["few due jobs", "a backlog"])
@pytest.mark.fault("functions/choose", r"do update set ends = excluded.ends", "do nothing")
def test_turns_continue_at_the_next_tick(queue: Queue, backlog: int) -> None:
    fill(queue, backlog, "e")
    enqueue(queue, *"abcde" * 3)

    turns = [offered(queue, capacity) for capacity in (2, 4, 6, 8)]

    assert turns == [{"a": 1, "b": 1}, {"c": 1, "d": 1}, {"e": 1, "a": 1}, {"b": 1, "c": 1}]


def test_tenants_behind_a_backlog_get_turns(queue: Queue) -> None:
    fill(queue, BACKLOG, "loud")
    fill(queue, 1, "")
    enqueue(queue, "b", "z", "z")

    assert offered(queue, 4) == {"": 1, "b": 1, "loud": 1, "z": 1}
    assert offered(queue, 14) == {"z": 1, "loud": 9}


def test_backlog_of_a_tenant_keeps_its_priorities(queue: Queue) -> None:
    fill(queue, BACKLOG, "loud")
    enqueue(queue, "loud", "loud", "b", priority=9)
    enqueue(queue, "b")

    rows = [queue.row(offer.id) for offer in queue.offer(4)]

    assert sorted((row.tenant, row.priority) for row in rows) == [
        ("b", 5),
        ("b", 9),
        ("loud", 9),
        ("loud", 9),
    ]


@pytest.mark.fault("functions/streams", r"\(full_scope.tenants \? l.tenant\) is not true", "true")
def test_paused_tenant_with_a_backlog_gets_no_turn(queue: Queue) -> None:
    fill(queue, BACKLOG, "loud")
    enqueue(queue, "z")
    pause(queue.database, tenant="loud")

    assert offered(queue, 1) == {"z": 1}
    assert offered(queue, 10) == {}


@pytest.mark.parametrize("what", [{"tenant": "loud"}, {"tenant": "loud", "kind": "slow"}], ids=str)
def test_limited_tenant_with_a_backlog_leaves_the_rest_to_others(queue: Queue, what: dict[str, str]) -> None:
    fill(queue, BACKLOG, "loud")
    enqueue(queue, *"bbbb")
    limit(queue.database, 2, **what)  # type: ignore[call-overload]

    assert offered(queue, 10) == {"loud": 2, "b": 4}
    assert offered(queue, 20) == {}


def test_tenant_whose_jobs_cannot_start_gets_no_turn(queue: Queue) -> None:
    fill(queue, BACKLOG, "loud")
    enqueue(queue, "z")
    queue.sql("update minutehand.jobs_live set cancelling = 'on request' where tenant = 'loud'")

    assert offered(queue, 1) == {"z": 1}


@pytest.mark.fault("functions/streams", r"and minutehand\.has_room\(v\.tenant[^\n]*", "")
def test_tenant_whose_limit_is_full_gets_no_turn(queue: Queue) -> None:
    fill(queue, BACKLOG, "loud")
    limit(queue.database, 1, tenant="loud", kind="slow")
    assert offered(queue, 1) == {"loud": 1}
    enqueue(queue, "z")
    queue.sql("truncate minutehand.turn_ends, minutehand.turns")

    assert offered(queue, 2) == {"z": 1}


def test_jobs_that_another_session_holds_are_replaced(queue: Queue) -> None:
    fill(queue, 10, "a")
    enqueue(queue, "b")
    other = queue.another()
    with other.transaction() as connection:
        connection.execute(
            "select from minutehand.jobs_live where tenant = 'a' order by visible limit 9 for update"
        )
        held = offered(queue, 2)

    assert held == {"a": 1, "b": 1}


def test_held_jobs_do_not_count_against_a_limit(queue: Queue) -> None:
    enqueue(queue, "", "", "", "")
    limit(queue.database, 2, queue="mail")
    other = queue.another()
    with other.transaction() as connection:
        connection.execute("select from minutehand.jobs_live order by visible limit 2 for update")
        taken = queue.take(4, "mail")

    assert len(taken) == 2


@pytest.mark.fault("functions/streams", r"open := minutehand.group_starts\([^;]*;", "")
def test_groups_whose_first_job_waits_use_up_no_turns(queue: Queue) -> None:
    limit(queue.database, 1, per="group", in_order=True)
    for tenant in "abc":
        queue.enqueue("slow", queue="mail", tenant=tenant, group="g")
        (job,) = queue.take(1, "mail")
        finish(job, Failed({"type": "ValueError", "message": "no"}, LONG))
        queue.sql(GROUPED, tenant=tenant, count=BACKLOG)
    enqueue(queue, "x", "y", "z")

    assert offered(queue, 3) == {"x": 1, "y": 1, "z": 1}


# The first job of each tenant's group waits for a retry, and two others are due.
WAITING = """
insert into minutehand.jobs_live (queue, kind, tenant, "group", attempts, run_at, visible)
select 'mail', 'slow', 't' || t, 'g', (n = 1)::integer, now() - interval '3 hours' + n * interval '1 hour',
       now() + case n when 1 then interval '1 hour' else interval '-1 hour' end
  from generate_series(1, %(tenants)s) t, generate_series(1, 3) n
"""


@pytest.mark.fault(
    "functions/streams", "visit.first_group is null and visit.seen is null", "not open and visit.seen is null"
)
def test_many_groups_that_wait_stop_no_tick(queue: Queue) -> None:
    limit(queue.database, 1, per="group", in_order=True)
    queue.sql(WAITING, tenants=150)
    enqueue(queue, "x")

    assert offered(queue, 200) == {"x": 1}


@pytest.mark.fault("functions/choose", "perform minutehand.end_turns[^;]*", "null")
def test_groups_that_wait_do_not_precede_others_at_each_tick(queue: Queue) -> None:
    """A tick examines 100 tenants, and assumes that the others may start a job."""
    limit(queue.database, 1, per="group", in_order=True)
    queue.sql(WAITING, tenants=150)
    for _ in range(3):
        enqueue(queue, "x")
        assert sum((offered(queue, 20) for _ in range(4)), Counter()) == {"x": 1}
