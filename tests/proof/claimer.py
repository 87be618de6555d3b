"""A process that claims and finishes jobs, and prints the outcome of each attempt."""

import json
import sys
from collections.abc import Iterator
from random import Random

from proving import GRACE, LEASE

from minutehand import Database, Job
from minutehand.claim import claim, take
from minutehand.finish import finish
from minutehand.model.invitation import parse
from minutehand.model.outcome import Done, Error, Failed

FLAKY: Error = {"type": "Flaky", "message": "the first attempt fails"}


def main(url: str, source: str, limit: str) -> None:
    """Print a line for each attempt that this process claimed."""
    database = Database(url)
    jobs = _taken(database, int(limit)) if source == "take" else _offered(database)
    for job in jobs:
        failed = job.attempt == 1 and job.payload == "flaky"
        ending = finish(job, Failed(FLAKY, job.retry.min) if failed else Done())
        print(json.dumps({"job": str(job.id), "attempt": job.attempt, "ending": ending.ending}))


def _taken(database: Database, limit: int) -> Iterator[Job]:
    while jobs := take(database, "default", limit, LEASE, GRACE):
        yield from jobs


def _offered(database: Database) -> Iterator[Job]:
    events = [json.loads(line) for line in sys.stdin]
    Random(len(events)).shuffle(events)
    for event in events:
        yield from claim(database, parse(event).offers, LEASE, GRACE)


if __name__ == "__main__":
    main(*sys.argv[1:])
