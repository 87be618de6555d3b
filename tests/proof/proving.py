"""Shared by the proofs: an invoker that stores its events, time that the test moves, processes and threads."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

from minutehand import Database
from minutehand.settings import Settings

Sessions = Callable[[], Database]

HERE = Path(__file__).parent
DEADLINE_SECONDS = 60
# For some thousand jobs on a busy machine.
PROCESS_SECONDS = 300
LEASE = timedelta(minutes=5)
GRACE = timedelta(seconds=2)
TTL = timedelta(minutes=2)
LATER = timedelta(minutes=20)

LATER_BY = (
    """update minutehand.jobs_live
          set visible = case when visible = minutehand.while_waiting() then visible else visible - %(by)s end,
              enqueued = enqueued - %(by)s, offered = offered - %(by)s, claimed = claimed - %(by)s,
              nominal = nominal - %(by)s""",
    # On its own, so that no trigger takes this for a job that was moved.
    "update minutehand.jobs_live set run_at = run_at - %(by)s",
    """update minutehand.jobs_done
          set deleted = deleted - %(by)s, visible = visible - %(by)s, run_at = run_at - %(by)s,
              enqueued = enqueued - %(by)s, offered = offered - %(by)s, claimed = claimed - %(by)s""",
    "update minutehand.lanes set floor = floor - %(by)s, emptied = emptied - %(by)s",
    "update minutehand.lane_changes set visible = visible - %(by)s",
    """update minutehand.dispatcher
          set ticked = ticked - %(by)s, since = since - %(by)s, swept = swept - %(by)s,
              settled = settled - %(by)s, marked = marked - %(by)s""",
    "update minutehand.budgets set lapsed = lapsed - %(by)s",
    "update minutehand.positions set visible = visible - %(by)s, swept = swept - %(by)s",
)

# From pg_locks alone: within a transaction, pg_stat_activity returns what it returned at first.
WAITING = """select exists (select from pg_locks waiter join pg_locks holder using (pid)
                             where not waiter.granted and holder.granted and holder.database =
                                   (select oid from pg_database where datname = current_database()))"""


class Post:
    """An invoker that stores the events, so that a test can deliver, drop or repeat them."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def invoke(self, _: str, event: dict[str, Any]) -> None:
        self.events.append(event)


def settings(capacity: int = 50, chunk: int = 1) -> Settings:
    return Settings(capacity=capacity, chunk=chunk, offer_ttl=TTL)


def pass_time(database: Database, by: timedelta = LATER) -> None:
    """Let time pass: move all times of the database into the past."""
    with database.transaction() as connection:
        for text in LATER_BY:
            connection.execute(text, {"by": by})


def sql(database: Database, text: str, **parameters: object) -> list[tuple[Any, ...]]:
    """Run SQL directly."""
    cursor = database.connection.execute(text, parameters or None)  # type: ignore[arg-type]
    return cursor.fetchall() if cursor.description else []


def states(database: Database) -> dict[str, int]:
    """Count the jobs by state."""
    counted = sql(
        database, "select minutehand.state(j, clock_timestamp()), count(*) from minutehand.jobs j group by 1"
    )
    return dict(counted)


def processes(script: str, arguments: Iterable[tuple[list[str], str]]) -> list[dict[str, Any]]:
    """Run a script in parallel processes, one per pair of arguments and input, and return all lines of output."""
    started = []
    for words, stdin in arguments:
        child = subprocess.Popen(
            [sys.executable, HERE / script, *words], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        started.append((child, stdin))
    outputs = together([lambda c=child, s=stdin: _communicate(c, s) for child, stdin in started])  # type: ignore[misc]
    return [line for lines in outputs for line in lines]


def _communicate(child: "subprocess.Popen[str]", stdin: str) -> list[dict[str, Any]]:
    # Closes the pipes after a timeout.
    with child:
        try:
            outputs, _ = child.communicate(stdin, timeout=PROCESS_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            raise
    assert child.returncode == 0
    return [json.loads(line) for line in outputs.splitlines()]


def together(calls: list[Callable[[], Any]]) -> list[Any]:
    """Call in threads that start at the same time; return the results, or raise the first exception."""
    results: list[Any] = [None] * len(calls)
    errors: list[BaseException] = []
    barrier = Barrier(len(calls))

    def run(place: int) -> None:
        try:
            barrier.wait(DEADLINE_SECONDS)
            results[place] = calls[place]()
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=run, args=[place]) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results
