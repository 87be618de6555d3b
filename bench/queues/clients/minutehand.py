"""minutehand: resident workers, one process each."""

from collections import deque
from collections.abc import Callable
from threading import Event

from bench.queues.clients.program import KIND, Load, Timed, drain_in_processes, main, timed
from minutehand.database import Database
from minutehand.enqueue import enqueue, enqueue_many
from minutehand.handlers import HandlerTable
from minutehand.model.new_job import NewJob
from minutehand.schema.migrate import migrate
from minutehand.work import work


def prepare(url: str, load: Load) -> None:
    """Create the schema."""
    migrate(url)


def single(url: str, load: Load) -> Timed:
    """Enqueue jobs one at a time."""
    database = open_database(url)

    def run() -> None:
        for payload in load.payloads:
            enqueue(KIND, payload, connection=database)

    return timed(load.jobs, run)


def bulk(url: str, load: Load) -> Timed:
    """Enqueue jobs together, each with its options."""
    database = open_database(url)
    jobs = (NewJob(KIND, payload) for payload in load.payloads)
    return timed(load.jobs, lambda: deque(enqueue_many(jobs, connection=database), maxlen=0))


def worker(url: str, load: Load, connected: Callable[[], object]) -> int:
    """Handle jobs until none is due."""
    database = open_database(url)
    handled: list[object] = []
    connected()
    work(database, HandlerTable({KIND: handled.append}), Event(), chunk=load.batch, drain=True)
    return len(handled)


def open_database(url: str) -> Database:
    """Return a database that is connected."""
    database = Database(url)
    database.connection.execute("select 1")
    return database


if __name__ == "__main__":
    main({"prepare": prepare, "single": single, "bulk": bulk, "drain": drain_in_processes(worker)})
