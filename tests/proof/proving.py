"""What the proofs share: an invoker that keeps its events, time that is moved by hand, and processes of their own."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread
from time import monotonic
from typing import Any

from minutehand import Database
from minutehand.settings import Settings

Sessions = Callable[[], Database]

HERE = Path(__file__).parent
DEADLINE_SECONDS = 60
PROCESS_SECONDS = 300  # for some thousand jobs, on a machine with much else to do
LEASE = timedelta(minutes=5)
GRACE = timedelta(seconds=2)
TTL = timedelta(minutes=2)
LATER = timedelta(minutes=20)

LATER_BY = (
    """update minutehand.jobs_live
          set visible = visible - %(by)s, run_at = run_at - %(by)s, enqueued = enqueued - %(by)s,
              offered = offered - %(by)s, claimed = claimed - %(by)s""",
    """update minutehand.jobs_done
          set deleted = deleted - %(by)s, visible = visible - %(by)s, run_at = run_at - %(by)s,
              enqueued = enqueued - %(by)s, offered = offered - %(by)s, claimed = claimed - %(by)s""",
    "update minutehand.lanes set floor = floor - %(by)s",
    """update minutehand.dispatcher
          set ticked = ticked - %(by)s, since = since - %(by)s, swept = swept - %(by)s""",
    "update minutehand.budgets set lapsed = lapsed - %(by)s",
)

# From pg_locks alone: what pg_stat_activity shows in a transaction is what it was at the first look.
WAITING = """select exists (select from pg_locks waits join pg_locks holds using (pid)
                             where not waits.granted and holds.granted and holds.database =
                                   (select oid from pg_database where datname = current_database()))"""


class Post:
    """An invoker that keeps the events, so that a test is the one who delivers, loses or repeats them."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def invoke(self, _: str, event: dict[str, Any]) -> None:
        self.events.append(event)


def settings(capacity: int = 50, chunk: int = 1) -> Settings:
    return Settings(capacity=capacity, chunk=chunk, offer_ttl=TTL)


def pass_time(database: Database, by: timedelta = LATER) -> None:
    """Let time pass: every moment that the database knows is longer ago by as much."""
    with database.transaction() as connection:
        for text in LATER_BY:
            connection.execute(text, {"by": by})


def sql(database: Database, text: str, **parameters: object) -> list[tuple[Any, ...]]:
    """Look at the table, past the library."""
    cursor = database.connection.execute(text, parameters or None)  # type: ignore[arg-type]
    return cursor.fetchall() if cursor.description else []


def states(database: Database) -> dict[str, int]:
    """Count the jobs by state."""
    counted = sql(
        database, "select minutehand.state(j, clock_timestamp()), count(*) from minutehand.jobs j group by 1"
    )
    return dict(counted)


def until(happened: Callable[[], object]) -> None:
    """Look until something has happened; fail when it never does."""
    deadline = monotonic() + DEADLINE_SECONDS
    while not happened():
        assert monotonic() < deadline, "it never happened"


def processes(script: str, arguments: Iterable[tuple[list[str], str]]) -> list[dict[str, Any]]:
    """Run a script in one process for each pair of arguments and input, all at once; return the lines they said."""
    started = []
    for words, said in arguments:
        child = subprocess.Popen(
            [sys.executable, HERE / script, *words], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        started.append((child, said))
    heard = together([lambda c=child, s=said: _hear(c, s) for child, said in started])  # type: ignore[misc]
    return [line for lines in heard for line in lines]


def _hear(child: "subprocess.Popen[str]", said: str) -> list[dict[str, Any]]:
    with child:  # or its pipes are left open when it takes too long
        try:
            heard, _ = child.communicate(said, timeout=PROCESS_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            raise
    assert child.returncode == 0
    return [json.loads(line) for line in heard.splitlines()]


def together(calls: list[Callable[[], Any]]) -> list[Any]:
    """Make calls in threads that begin at one moment; return what they returned, or raise what one raised."""
    answers: list[Any] = [None] * len(calls)
    faults: list[BaseException] = []
    barrier = Barrier(len(calls))

    def run(place: int) -> None:
        try:
            barrier.wait(DEADLINE_SECONDS)
            answers[place] = calls[place]()
        except BaseException as fault:
            faults.append(fault)

    threads = [Thread(target=run, args=[place]) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return answers
