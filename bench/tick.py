"""The cost of a tick by the size of the backlog: plain, with one limit, with 1,000 tenants, with full limits.

The one limit has room, so that it changes no offer. The full ones are of a tenant and a kind.
`python -m bench --cases tick` runs it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from statistics import median

from bench.measure import ROUNDS, Measured, seconds
from minutehand.database import Database
from minutehand.maintenance import run_maintenance
from minutehand.offer import offer
from minutehand.operations.controls import limit

CAPACITY = 100
BACKLOGS = (10_000, 100_000, 1_000_000)
TENANTS = 1000
FILL = """
insert into minutehand.jobs_live (kind, tenant, payload, run_at, visible)
select 'echo', case when %(tenants)s > 0 then 'tenant' || n %% %(tenants)s else '' end, '{"a": 1}', moment, moment
  from (select n, clock_timestamp() - interval '1 hour' * random() as moment from generate_series(1, %(count)s) n) made
"""
EMPTY = """
truncate minutehand.jobs, minutehand.lanes, minutehand.lane_changes,
         minutehand.positions, minutehand.turns, minutehand.turn_ends
"""
UNDO = """
update minutehand.jobs_live set ack = null, offered = null, visible = clock_timestamp() - interval '1 hour'
 where ack is not null
"""
LIMITS = """
insert into minutehand.controls (tenant, kind, max_running)
select 'tenant' || n, 'echo', 0 from generate_series(0, %(tenants)s - 1) n
"""
LEARNING = 11

Case = Callable[[Database], AbstractContextManager[None]]


@dataclass(frozen=True)
class Cost:
    """Medians of the rounds in milliseconds: a whole tick, and the part that counts the capacity and makes offers."""

    case: str
    due: int
    tick_ms: float
    offer_ms: float


def costs(url: str, backlogs: tuple[int, ...] = BACKLOGS) -> Iterator[Cost]:
    """Measure ticks of an empty database with growing backlogs; offers are undone between rounds."""
    database = Database(url)
    for backlog in backlogs:
        _fill(database, backlog, 0)
        yield from _costs(database, {"plain": _no_limit, "one limit": _one_limit}, backlog)
        _fill(database, backlog, TENANTS)
        # One after the other: full limits leave marks of blocked tenants, which the next ticks remove.
        cases = {f"{TENANTS:,} tenants": _no_limit, f"{TENANTS:,} tenants, one limit": _one_limit}
        yield from _costs(database, cases, backlog)
        yield from _costs(database, {f"{TENANTS:,} tenants, each with a full limit": _full_limits}, backlog)
    database.connection.execute("truncate minutehand.jobs, minutehand.lanes, minutehand.lane_changes")
    database.close()


def lines(measured: Sequence[Cost]) -> list[Measured]:
    """Return the costs as lines of a table; the ratio is to the plain tick with the smallest backlog."""
    return [
        Measured(
            f"tick, {cost.case}, {cost.due:,} due",
            f"{cost.tick_ms:.2f} ms",
            f"{cost.offer_ms:.2f} ms of it for offers",
            f"{cost.tick_ms / measured[0].tick_ms:.2f} x",
        )
        for cost in measured
    ]


def tick(database: Database) -> None:
    """Run the statements of a tick."""
    run_maintenance(database)
    database.run("count_due", limit=1000, now=None)
    make_offers(database)


def make_offers(database: Database) -> None:
    """Count the capacity and make offers."""
    offer(database, CAPACITY, timedelta(minutes=2))


def _costs(database: Database, cases: Mapping[str, Case], due: int) -> Iterator[Cost]:
    """Measure cases in interleaved rounds, after one round that is not measured."""
    rounds = [_round(database, cases) for _ in range(1 + 4 * ROUNDS)][1:]
    for case in cases:
        ticks, offers = zip(*(each[case] for each in rounds), strict=True)
        yield Cost(case, due, round(median(ticks) * 1000, 3), round(median(offers) * 1000, 3))


def _round(database: Database, cases: Mapping[str, Case]) -> dict[str, tuple[float, float]]:
    """Return the seconds of a tick and of its offers in each case."""
    measured = {}
    for case, prepare in cases.items():
        with prepare(database):
            undo = partial(_undo_offers, database)
            measured[case] = (
                seconds(partial(tick, database), undo),
                seconds(partial(make_offers, database), undo),
            )
            _undo_offers(database)
    return measured


def _fill(database: Database, count: int, tenants: int) -> None:
    connection = database.connection
    connection.execute(EMPTY)
    connection.execute(FILL, {"count": count, "tenants": tenants})
    connection.execute("vacuum analyze minutehand.jobs_live")


@contextmanager
def _no_limit(database: Database) -> Iterator[None]:
    yield


@contextmanager
def _one_limit(database: Database) -> Iterator[None]:
    limit(database, 10 * CAPACITY, kind="echo")
    yield
    database.connection.execute("delete from minutehand.controls")


@contextmanager
def _full_limits(database: Database) -> Iterator[None]:
    database.connection.execute(LIMITS, {"tenants": TENANTS})
    # The first ticks learn which tenants are blocked.
    for _ in range(LEARNING):
        make_offers(database)
    yield
    database.connection.execute("delete from minutehand.controls")


def _undo_offers(database: Database) -> None:
    """Make the offered rows due again."""
    database.connection.execute(UNDO)
