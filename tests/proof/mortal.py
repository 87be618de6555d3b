"""A worker or dispatcher that stops at a labelled point and says so, for its parent to kill it there or let it go on.

worker URL POINT EVENT    answers an event and stops at
    claimed       once the claim has committed
    handler       in the handler, before its side effect
    effect        in the handler, after its side effect
    finishing     when the statement that finishes is done and not committed
    finished      when the finish has committed
    transaction   in job.transaction(), its writes not committed
    settled       when job.transaction() has committed
dispatcher URL            ticks and stops after the offer has committed, before the first invocation
"""

import json
import sys
from typing import Any, NoReturn

from proving import GRACE, LEASE, settings

from minutehand import Database, Job, MinutehandError
from minutehand.database import Record
from minutehand.handlers import HandlerTable
from minutehand.model.event import Event
from minutehand.tick import tick
from minutehand.work import run_event


def say(**facts: object) -> None:
    # One write: the threads of a fan-out say it together, and print() ends its line with a second one.
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


class Worker:
    """A worker with one point at which it stops."""

    def __init__(self, url: str, point: str) -> None:
        self.point = point
        self.database = Attentive(url, self)
        self.effects = Database(url)

    def at(self, point: str, **facts: object) -> None:
        if point == self.point:
            say(at=point, **facts)
            sys.stdin.readline()

    def answer(self, event: dict[str, Any]) -> None:
        handlers = HandlerTable({"effect": self.effect, "transact": self.transact})
        try:
            endings = run_event(self.database, handlers, event, lambda: LEASE, GRACE, self.observe)
        except MinutehandError as error:
            return say(raised=type(error).__name__, sentence=str(error), cause=repr(error.__cause__))
        say(endings=[ending.ending for ending in endings])

    def observe(self, event: Event) -> None:
        if event.name == "claimed":
            kept = self.effects.connection.execute(
                "select ack from minutehand.jobs where id = %s", [event.job]
            ).fetchone()
            assert kept is not None
            self.at("claimed", ack=str(kept[0]))

    def effect(self, _: object, job: Job) -> None:
        self.at("handler", ack=str(job.ack))
        self.effects.connection.execute("insert into effects values (%s)", [job.id])
        self.at("effect", ack=str(job.ack))

    def transact(self, _: object, job: Job) -> None:
        with job.transaction() as connection:
            connection.execute("insert into effects values (%s)", [job.id])
            self.at("transaction", ack=str(job.ack))
        self.at("settled", ack=str(job.ack))


class Attentive(Database):
    """A database that knows when a finish is written, and when it is committed."""

    def __init__(self, url: str, worker: Worker) -> None:
        super().__init__(url)
        self._worker = worker

    def run(self, name: str, /, **parameters: object) -> list[Record]:
        if name != "finish" or self.in_transaction:
            return super().run(name, **parameters)
        with self.transaction():
            records = super().run(name, **parameters)
            self._worker.at("finishing", ack=str(parameters["ack"]))
        self._worker.at("finished", ack=str(parameters["ack"]))
        return records


class Silent:
    """An invoker that never gets to invoke."""

    def invoke(self, *_: object) -> NoReturn:
        say(at="offered")
        sys.stdin.readline()
        raise TimeoutError


def main(role: str, url: str, point: str = "", event: str = "{}") -> None:
    """Play the role."""
    if role == "worker":
        Worker(url, point).answer(json.loads(event))
    else:
        tick(Database(url), Silent(), settings())


if __name__ == "__main__":
    main(*sys.argv[1:])
