"""Duration of a tick by the size of the backlog; constant once the capacity limits it."""

from collections.abc import Sequence
from datetime import timedelta
from statistics import median

from bench.measure import ROUNDS, Measured, seconds
from minutehand.database import Database
from minutehand.maintenance import run_maintenance
from minutehand.offer import offer

CAPACITY = 100
FILL = """
insert into minutehand.jobs (kind, payload, visible)
select 'echo', '{"a": 1}', clock_timestamp() - interval '1 second' * random() from generate_series(1, %s)"""


def durations(url: str, backlogs: Sequence[int]) -> dict[str, float]:
    """Return the median milliseconds of count, offer and maintenance by backlog; offers are undone between rounds."""
    database, medians = Database(url), {}
    for backlog in backlogs:
        database.connection.execute("truncate minutehand.jobs")
        database.connection.execute(FILL, (backlog,))
        database.connection.execute("vacuum analyze minutehand.jobs_live")
        tick(database)
        rounds = [seconds(lambda: tick(database), lambda: undo_offers(database)) for _ in range(4 * ROUNDS)]
        medians[str(backlog)] = round(median(rounds) * 1000, 2)
    database.connection.execute("truncate minutehand.jobs")
    database.close()
    return medians


def lines(medians: dict[str, float]) -> list[Measured]:
    """Return a line for each backlog, with its ratio to the smallest one."""
    first = next(iter(medians.values()))
    return [
        Measured(f"tick with {int(backlog):,} due", f"{took:.2f} ms", "", f"{took / first:.2f} x", "1.30 x")
        for backlog, took in medians.items()
    ]


def measure(url: str, backlogs: Sequence[int]) -> list[Measured]:
    """Measure ticks with growing backlogs."""
    return lines(durations(url, backlogs))


def tick(database: Database) -> None:
    """Run the statements of a tick."""
    run_maintenance(database)
    database.run("count_due", limit=1000, now=None)
    offer(database, CAPACITY, timedelta(minutes=2))


def undo_offers(database: Database) -> None:
    """Make the offered rows due again."""
    database.connection.execute(
        "update minutehand.jobs_live set ack = null, visible = now() where ack is not null"
    )
