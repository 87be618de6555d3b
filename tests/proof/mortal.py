"""A worker or dispatcher that stops at a named point and reports it, so that its parent can kill it or let it continue.

worker URL POINT EVENT [N]    handles an event and stops when it reaches a point for the Nth time
    claimed       after the commit of the claim
    handler       in the handler, before its side effect
    effect        in the handler, after its side effect
    finishing     after the statement that finishes, before its commit
    finished      after the commit of the finish
    transaction   in job.transaction(), before the commit
    settled       after the commit of job.transaction()
dispatcher URL            ticks and stops after the commit of the offer, before the first invocation
enqueuer URL POINT        enqueues a job in the mode `prompt`, with functions that do not exist, and stops
    committed     after the commit of the job, before its offer
    offered       after the commit of the offer, before the invocation
"""

import json
import sys
from typing import Any, NoReturn
from uuid import UUID

from proving import GRACE, LEASE, settings

from minutehand import Database, Job, MinutehandError, enqueue
from minutehand.database import Record
from minutehand.handlers import HandlerTable
from minutehand.invocations.running import run_event
from minutehand.model.event import Event
from minutehand.tick import tick


def report(**facts: object) -> None:
    # One write, because threads of a fan-out report at the same time and print() writes the newline separately.
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


class Worker:
    """A worker that stops at one point."""

    def __init__(self, url: str, point: str, passes: int) -> None:
        self.point, self.passes = point, passes
        self.database = ObservedDatabase(url, self)
        self.effects = Database(url)

    def at(self, point: str, **facts: object) -> None:
        self.passes -= point == self.point
        if point == self.point and self.passes == 0:
            report(at=point, **facts)
            sys.stdin.readline()

    def handle(self, event: dict[str, Any]) -> None:
        handlers = HandlerTable({"effect": self.effect, "transact": self.transact})
        try:
            endings = run_event(self.database, handlers, event, lambda: LEASE, GRACE, self.observe)
        except MinutehandError as error:
            return report(raised=type(error).__name__, sentence=str(error), cause=repr(error.__cause__))
        report(endings=[ending.ending for ending in endings])

    def observe(self, event: Event) -> None:
        if event.name == "claimed":
            row = self.effects.connection.execute(
                "select ack from minutehand.jobs where id = %s", [event.job]
            ).fetchone()
            assert row is not None
            self.at("claimed", ack=str(row[0]))

    def effect(self, _: object, job: Job) -> None:
        self.at("handler", ack=str(job.ack))
        self.effects.connection.execute("insert into effects values (%s)", [job.id])
        self.at("effect", ack=str(job.ack))

    def transact(self, _: object, job: Job) -> None:
        with job.transaction() as connection:
            connection.execute("insert into effects values (%s)", [job.id])
            self.at("transaction", ack=str(job.ack))
        self.at("settled", ack=str(job.ack))


class ObservedDatabase(Database):
    """A database that reports when a finish is written, and when it is committed."""

    def __init__(self, url: str, worker: Worker) -> None:
        super().__init__(url)
        self._worker = worker

    def run(self, name: str, /, **parameters: object) -> list[Record]:
        if name not in ("finish", "finish_done", "finish_in_batch") or self.in_transaction:
            return super().run(name, **parameters)
        # The first element of a binary array, after the head of six numbers.
        acks: Any = parameters["acks"]
        ack = str(UUID(bytes=acks[24:40]))
        with self.transaction():
            records = super().run(name, **parameters)
            self._worker.at("finishing", ack=ack)
        self._worker.at("finished", ack=ack)
        return records


class PromptDatabase(Database):
    """A database that stops before or after the offer of an enqueued job."""

    point = ""

    def run(self, name: str, /, **parameters: object) -> list[Record]:
        if name != "offer_now":
            return super().run(name, **parameters)
        self._at("committed")
        records = super().run(name, **parameters)
        self._at("offered")
        return records

    def _at(self, point: str) -> None:
        if point == self.point:
            report(at=point)
            sys.stdin.readline()


class StoppingInvoker:
    """An invoker that stops instead of invoking."""

    def invoke(self, *_: object) -> NoReturn:
        report(at="offered")
        sys.stdin.readline()
        raise TimeoutError


def main(role: str, url: str, point: str = "", event: str = "{}", passes: str = "1") -> None:
    """Run as a worker, a dispatcher or an enqueuer."""
    if role == "worker":
        Worker(url, point, int(passes)).handle(json.loads(event))
    elif role == "enqueuer":
        database = PromptDatabase(url)
        database.point = point
        enqueue("effect", connection=database)
    else:
        tick(Database(url), StoppingInvoker(), settings())


if __name__ == "__main__":
    main(*sys.argv[1:])
