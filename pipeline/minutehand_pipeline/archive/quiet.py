"""Open and close the slots of an archive's readers, by the latency that a probe measures."""

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Event, Thread
from time import perf_counter

from minutehand.database import Database
from minutehand.errors import DatabaseError
from minutehand_pipeline.archive.pace import Pace
from minutehand_pipeline.queue.slots import WITHOUT_LIMITS, wait_for_slot
from minutehand_pipeline.statements import run_statement

LOG = logging.getLogger("minutehand_pipeline")

# Seconds between two probes.
INTERVAL = 0.02
# A transaction that holds slots is idle between two statements.
MAY_BE_IDLE = "select set_config('idle_in_transaction_session_timeout', '0', true)"


@contextmanager
def quiet(database: Database, pace: Pace) -> Iterator[None]:
    """Leave open only as many slots as do not disturb the queue, with a probe in another thread."""
    over = Event()
    thread = Thread(target=_regulate, args=(database, pace, over), name="pace", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _regulate(database: Database, pace: Pace, over: Event) -> None:
    try:
        with closing(database.clone()) as prober, closing(database.clone()) as holder:
            while not over.is_set():
                _hold_closed(prober, holder, pace, over)
    except DatabaseError as error:
        # All slots are open then. If the database is gone, the tasks fail with a better message.
        LOG.warning("the archive no longer adapts its speed to the queue's latency: %s", error)


def _hold_closed(prober: Database, holder: Database, pace: Pace, over: Event) -> None:
    """Hold the slots that are not open, in one transaction, until more of them are to open."""
    held = pace.slots
    with holder.transaction() as connection:
        connection.execute(MAY_BE_IDLE)
        connection.execute(WITHOUT_LIMITS)
        while held >= pace.open and not over.is_set():
            while held > pace.open:
                held -= 1
                connection.execute(wait_for_slot(held))
            over.wait(INTERVAL)
            pace.note(probe(prober))


def probe(database: Database) -> float:
    """Return how long the queue's first query takes, in seconds."""
    began = perf_counter()
    run_statement(database, "archive_probe")
    return perf_counter() - began
