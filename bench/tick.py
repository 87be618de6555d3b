"""Duration of a tick by the size of the backlog; constant once the capacity limits it."""

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


def measure(url: str, backlogs: tuple[int, ...]) -> list[Measured]:
    """Measure count, offer and maintenance with growing backlogs; offers are undone between rounds."""
    database = Database(url)
    lines, first = [], 0.0
    for backlog in backlogs:
        database.connection.execute("truncate minutehand.jobs")
        database.connection.execute(FILL, (backlog,))
        database.connection.execute("vacuum analyze minutehand.jobs_live")
        tick(database)
        took = median(
            seconds(lambda: tick(database), lambda: undo_offers(database)) for _ in range(4 * ROUNDS)
        )
        first = first or took
        lines.append(
            Measured(
                f"tick with {backlog:,} due", f"{took * 1000:.2f} ms", "", f"{took / first:.2f} x", "1.30 x"
            )
        )
    database.connection.execute("truncate minutehand.jobs")
    database.close()
    return lines


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
