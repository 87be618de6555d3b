"""minutehand with all jobs in one batch, whose last job enqueues nothing."""

from bench.queues.clients.minutehand import open_database, prepare, worker
from bench.queues.clients.program import KIND, Load, Timed, drain_in_processes, main, timed
from minutehand.batches import batch
from minutehand.model.new_job import NewJob


def bulk(url: str, load: Load) -> Timed:
    """Enqueue jobs together, in a batch."""
    database = open_database(url)

    def run() -> None:
        with batch(connection=database) as opened:
            opened.enqueue_many(NewJob(KIND, payload) for payload in load.payloads)

    return timed(load.jobs, run)


if __name__ == "__main__":
    main({"prepare": prepare, "bulk": bulk, "drain": drain_in_processes(worker)})
