"""Turns: decide from which queue a worker takes its next jobs."""

from collections.abc import Mapping
from datetime import timedelta

from minutehand.claim import take
from minutehand.database import Database
from minutehand.job import Job
from minutehand.model.queues import Queues
from minutehand.model.worker import UNNAMED, Worker


class Turns:
    """The order in which a worker's queues are served: start-time fair queueing (Goyal, Vin and Cheng, 1996).

    Time is virtual: a job of a queue with weight 3 takes a third of a unit. The next jobs come from the queue whose
    last ones ended first. A queue that had no due job starts at the present, so that it gains nothing from idling.
    """

    def __init__(self, queues: Queues) -> None:
        """Serve these queues."""
        self._queues = queues
        self._now = 0.0
        # When the last jobs taken from a queue end; only ends after `now` are stored.
        self._ends: dict[str, float] = {}

    def take(
        self,
        database: Database,
        limit: int,
        lease: timedelta,
        grace: timedelta,
        worker: Worker = UNNAMED,
    ) -> list[Job]:
        """Take up to `limit` due jobs of the queue that is next; if another worker has them, of the one after it."""
        for queue in self._due(database):
            if jobs := take(database, queue, limit, lease, grace, worker=worker):
                self.count(queue, len(jobs))
                return jobs
        return []

    def order(self, late: Mapping[str, timedelta]) -> list[str]:
        """Return the queues in the order of their turns; `late` is how long each queue's oldest job has been due."""
        if self._queues.strict:
            return [queue for queue in self._queues.weights if queue in late]
        served = [queue for queue in late if not self._queues.weights or queue in self._queues.weights]
        return sorted(served, key=lambda queue: (self._start(queue), -late[queue]))

    def count(self, queue: str, jobs: int) -> None:
        """Record that jobs were taken from a queue."""
        self._now = self._start(queue)
        self._ends[queue] = self._now + jobs / self._queues.weights.get(queue, 1)
        self._ends = {name: end for name, end in self._ends.items() if end > self._now}

    def _start(self, queue: str) -> float:
        return self._ends.get(queue, self._now)

    def _due(self, database: Database) -> list[str]:
        """Return the queues that may have due jobs, in the order of their turns. One queue needs no search."""
        if self._queues.only:
            return [self._queues.only]
        records = database.run("count_due", limit=1, now=None)
        return self.order({record["queue"]: record["late"] for record in records})
