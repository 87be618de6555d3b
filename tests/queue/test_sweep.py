"""The sweep: jobs that may start are found behind any number of jobs that may not, after a bounded number of ticks."""

from collections.abc import Callable
from datetime import datetime, timedelta
from math import ceil

import pytest

from minutehand.operations.controls import limit, pause, resume
from tests.queue.scan import HEAD, NEWEST, STEP, SWEEP, fill, read_few_rows
from tests.queue.stage import Queue

# More than the head and three sweeps.
BLOCKED = HEAD + 3 * SWEEP
# Jobs of a tenant are read twice: with the tenant's, and in search of those without a tenant. Each step of a sweep
# begins with the last row of the one before.
TICKS = ceil(2 * (BLOCKED + 10) / (SWEEP - SWEEP // STEP)) + 2
SECOND = timedelta(seconds=1)


@pytest.fixture
def scanned(queue: Queue) -> Queue:
    """A queue whose ticks and takes read few rows."""
    read_few_rows(queue)
    return queue


def moment(queue: Queue) -> datetime:
    (row,) = queue.sql("select clock_timestamp() as now")
    now: datetime = row["now"]
    return now


def ticks_until_offered(queue: Queue, kind: str, most: int = TICKS) -> int:
    """Tick until a job of a kind is offered; return the number of ticks."""
    for tick in range(1, most + 1):
        if kind in {offer.kind for offer in queue.offer(capacity=3)}:
            return tick
    raise AssertionError(f"no job of kind {kind} was offered in {most} ticks")


def pause_kind(queue: Queue) -> None:
    pause(queue.database, kind="slow")


def limit_kind(queue: Queue) -> None:
    limit(queue.database, 2, kind="slow")


def pause_tenant(queue: Queue) -> None:
    pause(queue.database, tenant="acme", kind="slow")


BLOCKS = {"a paused kind": pause_kind, "a limited kind": limit_kind, "a tenant's kind": pause_tenant}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("spread", [True, False], ids=["in order", "of one moment"])
@pytest.mark.parametrize("tenant", ["", "acme", "other"])
def test_job_behind_blocked_jobs_is_found(
    scanned: Queue, block: Callable[[Queue], None], spread: bool, tenant: str
) -> None:
    """More blocked jobs follow, so that it is not read as one of the newest."""
    fill(scanned, BLOCKED, tenant="acme", spread=spread)
    fill(scanned, 1, kind="quick", tenant=tenant, spread=spread)
    fill(scanned, NEWEST, tenant="acme", spread=spread)
    block(scanned)

    assert ticks_until_offered(scanned, "quick") <= TICKS


@pytest.mark.parametrize("spread", [True, False], ids=["in order", "of one moment"])
def test_lane_without_tenants_is_swept(scanned: Queue, spread: bool) -> None:
    fill(scanned, BLOCKED, spread=spread)
    fill(scanned, 1, kind="quick", spread=spread)
    fill(scanned, NEWEST, spread=spread)
    pause_kind(scanned)

    assert ticks_until_offered(scanned, "quick") > 1


@pytest.mark.fault(
    "functions/sweep", r"place.visible := case when .*? end;", "place.visible := chunk.visible;"
)
def test_sweep_begins_again_at_the_end(scanned: Queue) -> None:
    """Jobs that the sweep has passed are resumed."""
    fill(scanned, HEAD + 1)
    fill(scanned, 5, kind="later")
    fill(scanned, 2 * SWEEP)
    pause_kind(scanned)
    pause(scanned.database, kind="later")
    for _ in range(TICKS):
        assert scanned.offer(3) == []
    resume(scanned.database, kind="later")

    assert ticks_until_offered(scanned, "later") <= TICKS


def test_newest_jobs_are_found_by_the_next_tick(scanned: Queue) -> None:
    fill(scanned, 10 * SWEEP)
    pause_kind(scanned)
    scanned.enqueue("quick", queue="mail")

    assert ticks_until_offered(scanned, "quick", 1) == 1


def test_sweep_passes_no_job_for_which_there_was_no_room(scanned: Queue) -> None:
    fill(scanned, BLOCKED)
    fill(scanned, 6, kind="quick")
    fill(scanned, NEWEST)
    pause_kind(scanned)
    offered = [len(scanned.offer(capacity)) for capacity in (*[1] * TICKS, *range(2, 7))]

    assert offered[-5:] == [1] * 5
    assert sum(offered) == 6


def test_job_without_a_tenant_gets_a_turn_while_others_have_backlogs(scanned: Queue) -> None:
    for tenant in "abc":
        fill(scanned, 2 * SWEEP, tenant=tenant)
    fill(scanned, 1, kind="quick", spread=False)
    scanned.sql("update minutehand.jobs_live set visible = visible + interval '10 ms' where kind = 'quick'")

    def tick() -> set[str]:
        offers = scanned.offer(2)
        scanned.sql(
            "update minutehand.jobs set deleted = now() where id = any (%(ids)s)",
            ids=[each.id for each in offers],
        )
        return {offer.kind for offer in offers}

    assert "quick" in set().union(*(tick() for _ in range(3 * TICKS)))


def test_taker_finds_a_job_behind_blocked_jobs(scanned: Queue) -> None:
    fill(scanned, BLOCKED)
    fill(scanned, 1, kind="quick")
    fill(scanned, NEWEST)
    pause_kind(scanned)
    kinds = []
    for _ in range(TICKS):
        kinds += [job.kind for job in scanned.take(1, "mail")]
        scanned.sql("update minutehand.positions set swept = swept - interval '1 second'")

    assert kinds == ["quick"]


@pytest.mark.fault("functions/sweep", r"and \(always or p.hit or [^\n]*", "")
def test_takers_sweep_a_lane_once_a_second(scanned: Queue) -> None:
    fill(scanned, 10 * SWEEP)
    pause_kind(scanned)
    positions = "select visible, id, swept, xmin::text from minutehand.positions"
    (clock,) = scanned.sql("select clock_timestamp() as now")
    scanned.take(1, "mail", **clock)
    first = scanned.sql(positions)
    for _ in range(5):
        scanned.take(1, "mail", **clock)

    assert len(first) == 1
    assert scanned.sql(positions) == first


@pytest.mark.fault("functions/sweep", r"for update skip locked", "for update")
def test_no_session_waits_for_a_sweep_of_another(scanned: Queue) -> None:
    fill(scanned, BLOCKED)
    scanned.enqueue("quick", queue="mail")
    pause_kind(scanned)
    scanned.take(1, "mail")
    scanned.sql("update minutehand.positions set swept = swept - interval '1 minute'")
    scanned.enqueue("quick", queue="mail")
    other = scanned.another()
    with other.transaction():
        scanned.take(1, "mail", database=other)
        scanned.enqueue("quick", queue="mail")
        taking = scanned.start(scanned.take, 1, "mail")
        scanned.until_done_or_waiting(taking)
        waited = not taking.done()

    assert not waited
    assert [job.kind for job in taking.result()] == ["quick"]
