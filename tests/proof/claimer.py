"""A claimer in a process of its own: works jobs off one way or the other, and says what it owned."""

import json
import sys
from collections.abc import Iterator
from random import Random

from proving import GRACE, LEASE

from minutehand import Database, Job
from minutehand.claim import claim, take
from minutehand.finish import finish
from minutehand.model.outcome import Done, Error, Failed
from minutehand.work import parse

FLAKY: Error = {"type": "Flaky", "message": "the first attempt fails"}


def main(url: str, way: str, most: str) -> None:
    """Say for each attempt that this process owned what became of it."""
    database = Database(url)
    jobs = _taken(database, int(most)) if way == "take" else _invited(database)
    for job in jobs:
        failed = job.attempt == 1 and job.payload == "flaky"
        ending = finish(job, Failed(FLAKY, job.retry.min) if failed else Done())
        print(json.dumps({"job": str(job.id), "attempt": job.attempt, "ending": ending.ending}))


def _taken(database: Database, most: int) -> Iterator[Job]:
    while jobs := take(database, "default", most, LEASE, GRACE):
        yield from jobs


def _invited(database: Database) -> Iterator[Job]:
    events = [json.loads(line) for line in sys.stdin]
    Random(len(events)).shuffle(events)
    for event in events:
        yield from claim(database, parse(event)[0], LEASE, GRACE)


if __name__ == "__main__":
    main(*sys.argv[1:])
