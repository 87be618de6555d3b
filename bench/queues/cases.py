"""The cases: what is timed, and with how many jobs."""

from dataclasses import dataclass

from bench.queues.clients.program import Load


@dataclass(frozen=True)
class Case:
    """One timed verb. `factor` multiplies the number of jobs, so that fast cases last long enough to be measured.

    `workers` replaces the number of workers of the command line. With `snapshot`, a transaction that began before the
    time starts stays open, so that no vacuum removes rows.
    """

    name: str
    title: str
    verb: str
    batch: int = 1
    factor: float = 1
    workers: int | None = None
    snapshot: bool = False

    def load(self, jobs: int, workers: int) -> Load:
        """Return the load for a number of jobs."""
        return Load(jobs=max(1, int(jobs * self.factor)), workers=self.workers or workers, batch=self.batch)


ONE = Case("one", "one by one", "drain")
# So many jobs that the start of a system's workers does not count, such as imports, compiled code, first statements and
# the first run of maintenance, which some systems do before the time starts, or not at all.
BATCH = Case("batch", "batches of 100", "drain", batch=100, factor=8)
BULK = Case("bulk", "bulk enqueue", "bulk", factor=4)
SINGLE = Case("single", "enqueue one at a time", "single")
HOT_PATHS = (ONE, BATCH, BULK, SINGLE)
# By workers in chunks, with and without a batch that all jobs belong to.
ONE_BATCH = Case("one-batch", "jobs of one batch", "drain", batch=100, factor=2)
# A large bulk whose jobs have become due together, and the same while an old snapshot keeps vacuum from removing rows.
BACKLOG = Case("backlog", "backlog", "drain", batch=100, factor=20)
OLD_SNAPSHOT = Case(
    "old-snapshot", "backlog under an old snapshot", "drain", batch=100, factor=20, snapshot=True
)
BACKLOGS = (BACKLOG, OLD_SNAPSHOT)

CHUNKS = (1, 10, 100)
WORKERS = (1, 2, 4)


def chunked(chunk: int, workers: int) -> Case:
    """Return the case of some workers, each with chunks of this size."""
    name, title = f"chunk-{chunk}-workers-{workers}", f"{workers} workers, chunks of {chunk}"
    return Case(name, title, "drain", batch=chunk, factor=0.5 if chunk == 1 else 2, workers=workers)


GRID = tuple(chunked(chunk, workers) for chunk in CHUNKS for workers in WORKERS)
CASES = {case.name: case for case in (*HOT_PATHS, ONE_BATCH, *BACKLOGS, *GRID)}
