"""A steady load: `python -m MODULE LOAD` enqueues jobs at a rate, claims and finishes them, and prints the samples.

LOAD is a JSON object with the fields of Load. The address of the database is in DATABASE_URL. `started` is printed when
the load begins; the last line is a JSON list of [operation, seconds since the start, milliseconds]. This module imports
only the standard library, because it also runs in the environment of the peers.
"""

import json
import os
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic, perf_counter
from typing import Any, Protocol

ENQUEUE_EVERY = 0.05
IDLE = 0.02
OFFER_EVERY = 1.0
MAX_OFFERS = 10_000


@dataclass(frozen=True)
class Load:
    """Jobs per second, the duration, the workers, and how many jobs a worker claims at a time."""

    rate: int
    seconds: float
    workers: int
    batch: int


class Session(Protocol):
    """One connection of a system."""

    def prepare(self) -> None:
        """Create the tables."""

    def enqueue(self, count: int) -> None:
        """Enqueue jobs that do nothing."""

    def claim(self, batch: int) -> list[Any]:
        """Claim jobs."""

    def finish(self, jobs: list[Any]) -> None:
        """Finish claimed jobs."""

    def close(self) -> None:
        """Close the connection."""


class Inviting(Session, Protocol):
    """A system whose dispatcher offers jobs, which workers then claim by name."""

    def maintain(self) -> None:
        """Do what precedes an offer."""

    def offer(self, capacity: int) -> list[Any]:
        """Offer due jobs."""

    def claim_offered(self, offers: list[Any]) -> list[Any]:
        """Claim offered jobs."""


@dataclass
class Samples:
    """The durations of operations."""

    began: float = field(default_factory=monotonic)
    all: list[tuple[str, float, float]] = field(default_factory=list)

    def timed(self, name: str, run: Callable[[], list[Any]]) -> list[Any]:
        """Run and record an operation."""
        at, began = monotonic() - self.began, perf_counter()
        result = run()
        self.all.append((name, round(at, 3), round((perf_counter() - began) * 1000, 3)))
        return result


def main(connect: Callable[[str], Any]) -> None:
    """Run the load of the command line, and print its samples."""
    url, load = os.environ["DATABASE_URL"], Load(**json.loads(sys.argv[1]))
    session = connect(url)
    session.prepare()
    inviting = hasattr(session, "offer")
    session.close()
    print("started", flush=True)
    samples, stop, offers = Samples(), Event(), deque[list[Any]]()
    threads = [Thread(target=_enqueue, args=(connect(url), load, stop))]
    if inviting:
        threads.append(Thread(target=_offer, args=(connect(url), load, stop, samples, offers)))
    threads += [
        Thread(target=_work, args=(connect(url), load, stop, samples, offers if inviting else None))
        for _ in range(load.workers)
    ]
    for thread in threads:
        thread.start()
    stop.wait(load.seconds)
    stop.set()
    for thread in threads:
        thread.join()
    print(json.dumps(samples.all), flush=True)


def _enqueue(session: Session, load: Load, stop: Event) -> None:
    began, count = monotonic(), 0
    while not stop.wait(ENQUEUE_EVERY):
        due = int((monotonic() - began) * load.rate)
        session.enqueue(due - count)
        count = due
    session.close()


def _offer(session: Inviting, load: Load, stop: Event, samples: Samples, offers: deque[list[Any]]) -> None:
    while not stop.wait(OFFER_EVERY):
        session.maintain()
        offered = samples.timed("offer", lambda: session.offer(MAX_OFFERS))
        offers.extend(offered[start : start + load.batch] for start in range(0, len(offered), load.batch))
    session.close()


def _work(session: Any, load: Load, stop: Event, samples: Samples, offers: deque[list[Any]] | None) -> None:
    while not stop.is_set():
        if offers is None:
            jobs = samples.timed("claim", lambda: session.claim(load.batch))
        else:
            jobs = _claim_offered(session, samples, offers)
        if jobs:
            session.finish(jobs)
        else:
            stop.wait(IDLE)
    session.close()


def _claim_offered(session: Inviting, samples: Samples, offers: deque[list[Any]]) -> list[Any]:
    try:
        chunk = offers.popleft()
    except IndexError:
        return []
    return samples.timed("claim", lambda: session.claim_offered(chunk))
