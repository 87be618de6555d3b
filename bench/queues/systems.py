"""The systems that are measured: how each is run, and how its tables show that every job was handled."""

import sys
from dataclasses import dataclass
from pathlib import Path

from bench.queues.cases import BACKLOGS, BULK, GRID, HOT_PATHS, ONE_BATCH, SINGLE

ROOT = Path(__file__).parents[2]
CLIENTS = "bench.queues.clients"


@dataclass(frozen=True)
class System:
    """A queue, or bare statements.

    `command` runs its client. `counts` is a query for the number of jobs that are not done, and of those that are, or
    null if the system deletes them. `layout` describes the workers.
    """

    name: str
    title: str
    cases: tuple[str, ...]
    command: tuple[str | Path, ...]
    counts: str
    layout: str = "4 processes"


def ours(name: str, title: str, cases: tuple[str, ...], counts: str) -> System:
    """Return a system whose client runs in this environment."""
    return System(name, title, cases, (sys.executable, "-m", f"{CLIENTS}.{name}"), counts)


OURS = "minutehand"
COUNT_JOBS = """
select count(*) filter (where deleted is null), count(*) filter (where deleted is not null and not failed)
  from minutehand.jobs"""
COUNT_IN_BATCH = """
select count(*) filter (where deleted is null or batch is null),
       count(*) filter (where deleted is not null and not failed)
  from minutehand.jobs"""
COUNT_BARE = "select count(*) filter (where deleted is null), count(deleted) from bare"
HOT = tuple(case.name for case in (*HOT_PATHS, *BACKLOGS))
MINUTEHAND = ours(OURS, "minutehand", (*HOT, ONE_BATCH.name, *(case.name for case in GRID)), COUNT_JOBS)
IN_BATCH = ours("in_batch", "minutehand, in one batch", (ONE_BATCH.name,), COUNT_IN_BATCH)
BARE = ours("bare", "bare psycopg", HOT, COUNT_BARE)
TABLE = ours("table", "straight into minutehand.jobs", (BULK.name, SINGLE.name), COUNT_JOBS)
LIMITS = (MINUTEHAND, BARE, TABLE, IN_BATCH)
