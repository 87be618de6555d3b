"""Handler times: how long the jobs of each kind take in this process, for the dispatcher's choice of chunk sizes."""

from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from math import ceil
from time import monotonic

from minutehand.claimed_job import Job
from minutehand.database import Database

# A time is stored once in this many seconds, and at once if it has grown by a fifth.
STORE_SECONDS = 60.0
GROWTH = 1.2
# The latest attempts at a kind that count.
SAMPLES = 100
MOST_KINDS = 1000


class HandlerTimes:
    """The latest times of each kind, which outlive an invocation."""

    def __init__(self) -> None:
        """Start without any."""
        self._samples: dict[str, deque[float]] = {}
        self._stored: dict[str, tuple[float, float]] = {}

    def add(self, jobs: Sequence[Job], seconds: float) -> None:
        """Add the jobs of a chunk that took some seconds as a whole.

        Jobs that ran at the same time share the seconds of the chunk, in proportion to their own. The import of
        handlers does not count.
        """
        ran = sum(job.lease.ran for job in jobs)
        share = min(1.0, seconds / ran) if ran else 0.0
        for job in jobs:
            if job.lease.ran and (job.kind in self._samples or len(self._samples) < MOST_KINDS):
                self._samples.setdefault(job.kind, deque(maxlen=SAMPLES)).append(job.lease.ran * share)

    def store(self, database: Database, invocation: timedelta) -> None:
        """Store the times that have changed; `invocation` is the whole time of one."""
        now = monotonic()
        due = {kind: high(samples) for kind, samples in self._samples.items() if self._is_due(kind, now)}
        if due:
            database.run(
                "record_times",
                kinds=list(due),
                seconds=list(due.values()),
                invocation=invocation.total_seconds(),
            )
            self._stored |= {kind: (now, seconds) for kind, seconds in due.items()}

    def _is_due(self, kind: str, now: float) -> bool:
        at, seconds = self._stored.get(kind, (-STORE_SECONDS, 0.0))
        return now - at >= STORE_SECONDS or high(self._samples[kind]) > seconds * GROWTH


def high(samples: Sequence[float]) -> float:
    """Return the time that 95 of 100 attempts do not exceed."""
    return sorted(samples)[ceil(0.95 * len(samples)) - 1]
