"""Tenants whose first jobs may not start cost a tick little, and start as soon as there is room."""

from collections import Counter
from collections.abc import Callable

import pytest

from minutehand.operations.controls import limit, pause
from tests.queue.scan import fill, read_few_rows
from tests.queue.stage import Queue

# More than a tick reads although their heads are blocked, and more than it sweeps.
TENANTS = [f"t{number:02}" for number in range(12)]
OFFERED = "select tenant, kind from minutehand.jobs where id = any (%(ids)s)"
FUTURE = """
insert into minutehand.jobs_live (queue, kind, tenant, run_at, visible)
select 'mail', 'later', 'a' || n, now() + interval '1 day', now() + interval '1 day'
  from generate_series(1, %(count)s) n
"""


@pytest.fixture
def scanned(queue: Queue) -> Queue:
    """A queue whose ticks read few rows."""
    read_few_rows(queue)
    return queue


def tick(queue: Queue, capacity: int = 50) -> Counter[str]:
    """Return the number of new offers by tenant."""
    rows = queue.sql(OFFERED, ids=[offer.id for offer in queue.offer(capacity)])
    return Counter(row["tenant"] for row in rows)


def end_all(queue: Queue) -> None:
    """End the offered jobs."""
    queue.sql("delete from minutehand.jobs_live where offered is not null")


def start_groups(queue: Queue) -> None:
    assert tick(queue) == each_once(TENANTS)
    # Other tenants had their turns since.
    queue.sql("delete from minutehand.turn_ends")


def kill_groups(queue: Queue) -> None:
    limit(queue.database, 1, group="g", in_order=True, on_dead="block")
    queue.sql(
        """insert into minutehand.blocked_groups (queue, tenant, "group", job)
           select distinct on (tenant) queue, tenant, "group", id from minutehand.jobs_live"""
    )


def pause_groups(queue: Queue) -> None:
    pause(queue.database, group="g")


def each_once(tenants: list[str]) -> Counter[str]:
    return Counter(dict.fromkeys(tenants, 1))


def fill_all(queue: Queue, count: int = 6) -> None:
    for tenant in TENANTS:
        fill(queue, count, tenant=tenant)
        limit(queue.database, 1, tenant=tenant, kind="slow")


@pytest.mark.every_version
@pytest.mark.fault("functions/streams", r"minutehand\.are_full\([^\n)]*\)", "true")
def test_all_blocked_tenants_go_on_when_there_is_room(scanned: Queue) -> None:
    fill_all(scanned)
    assert tick(scanned) == each_once(TENANTS)
    for _ in range(5):
        assert not tick(scanned)

    end_all(scanned)

    assert tick(scanned) == each_once(TENANTS)


@pytest.mark.fault("functions/blocked", r"and \(full_scope.tenants \? p.part\) is not true\n", "and false\n")
def test_job_behind_a_blocked_head_is_found_by_turns(scanned: Queue) -> None:
    fill_all(scanned)
    tick(scanned)
    for _ in range(4):
        tick(scanned)
    scanned.sql(
        "update minutehand.jobs_live set kind = 'quick' where id = any (array("
        "select id from minutehand.jobs_live where offered is null and tenant = 't07' order by visible desc limit 1))"
    )

    found = sum((tick(scanned) for _ in range(4)), Counter[str]())

    assert found == {"t07": 1}


def test_expired_jobs_at_the_head_do_not_block_a_tenant(scanned: Queue) -> None:
    fill_all(scanned)
    scanned.sql("update minutehand.jobs_live set expires = interval '1 second' where tenant = 't03'")
    assert tick(scanned) == each_once([tenant for tenant in TENANTS if tenant != "t03"])

    scanned.sql("update minutehand.jobs_live set expires = null")

    assert tick(scanned) == {"t03": 1}


@pytest.mark.fault(
    "functions/streams",
    r"\(select tenant, true, null, null, ahead from at_ends where ahead = 0\)\s+union all",
    "",
)
def test_tenants_with_future_jobs_do_not_delay_others(scanned: Queue) -> None:
    """More of them than a tick lists."""
    scanned.sql(FUTURE, count=60)
    fill(scanned, 8, tenant="loud")
    fill(scanned, 1, tenant="z")

    assert tick(scanned, capacity=2) == {"loud": 1, "z": 1}


@pytest.mark.fault("functions/streams", r"greatest\(visit_tenants.floor, v.seen\)", "visit_tenants.floor")
def test_new_job_of_a_blocked_tenant_starts_at_the_next_tick(scanned: Queue) -> None:
    """Without waiting for its turn among all blocked tenants."""
    fill_all(scanned)
    assert tick(scanned) == each_once(TENANTS)
    for _ in range(3):
        assert not tick(scanned)

    scanned.enqueue("quick", queue="mail", tenant="t02")
    scanned.enqueue("quick", queue="mail", tenant="t09")

    assert tick(scanned) == each_once(["t02", "t09"])


@pytest.mark.every_version
@pytest.mark.parametrize(
    ("close", "capacity"),
    [(start_groups, 18), (pause_groups, 6), (kill_groups, 6)],
    ids=["busy", "paused", "blocked"],
)
def test_tenants_with_full_groups_do_not_delay_others(
    scanned: Queue, close: Callable[[Queue], object], capacity: int
) -> None:
    """More of them than there is room for jobs: none of them gets a turn that another tenant needs."""
    for tenant in TENANTS:
        fill(scanned, 2, tenant=tenant)
    scanned.sql("""update minutehand.jobs_live set "group" = 'g'""")
    scanned.database.run("sweep", now=None)
    close(scanned)

    scanned.enqueue("quick", queue="mail", tenant="z")
    found = sum((tick(scanned, capacity) for _ in range(5)), Counter[str]())

    assert found == {"z": 1}
