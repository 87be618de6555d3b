"""The faults of the runbooks' table, caused in the stack on the emulator."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from emulator import Clock
from minutehand import BusyError, Retry
from minutehand.queries.why.evidence import MANY
from tests.doctor.account import Account
from tests.doctor.small_disk import MEGABYTES, fill, on_disk, small_disk
from tests.lambda_faults.aws_account import aws_account
from tests.lambda_faults.stage import Stage, staged
from tests.lambda_faults.wrong_clock import hour_behind
from tests.servers import Address, Database
from tests.waiting import until

# Longer than Home takes a queue for late.
LATE = 150.0
SNAPSHOT_SECONDS = 60


@dataclass
class Lab:
    """Where faults are caused: a database of the test on a server, and the stack."""

    database: Database
    address: Address
    tree: Path
    folder: Path
    stack: ExitStack = field(default_factory=ExitStack)
    account: Account = field(init=False)

    def start(self, seconds: int = 60, url: str | None = None, **variables: str) -> Stage:
        """Start the stack, whose workers have a timeout in seconds."""
        database = Database(url or self.database.url, self.database.admin_url)
        return self.stack.enter_context(staged(database, self.tree, Clock(speed=0), seconds, {}, **variables))

    def on_aws(self, stage: Stage) -> dict[str, str]:
        """Serve an account with the stack; return the environment of commands that use it."""
        self.account, environment = self.stack.enter_context(aws_account(stage))
        return environment


# Yields the environment of the machine on which the operator runs commands.
Cause = Callable[[Lab], AbstractContextManager[dict[str, str]]]


def pass_time_with_ticks(stage: Stage, seconds: float) -> None:
    """Pass time; then the dispatcher has just ticked, so that it is not silent, however slow the test is."""
    stage.pass_time(seconds)
    stage.sql("update minutehand.dispatcher set ticked = now() returning ticked")


@contextmanager
def throttled(lab: Lab) -> Iterator[dict[str, str]]:
    stage = lab.start(MINUTEHAND_OFFER_TTL="30")
    environment = lab.on_aws(stage)
    stage.lambda_.limit("WorkerFunction", 0)
    lab.account.awslambda.put_function_concurrency(FunctionName="shop-worker", ReservedConcurrentExecutions=0)
    # Two lapsed offers in a hundred are tolerated.
    for _ in range(20):
        stage.enqueue()
    stage.lambda_.tick()
    stage.lambda_.settle()
    stage.pass_time(60)
    stage.lambda_.tick()
    stage.lambda_.settle()
    stage.pass_time(60)
    yield environment


@contextmanager
def killed(lab: Lab) -> Iterator[dict[str, str]]:
    stage = lab.start(MINUTEHAND_GRACE="1", seconds=10)
    stage.enqueue("crash")
    stage.lambda_.tick()
    stage.lambda_.settle()
    pass_time_with_ticks(stage, LATE + 20)
    yield {}


@contextmanager
def hanging(lab: Lab) -> Iterator[dict[str, str]]:
    stage = lab.start(seconds=600, MINUTEHAND_CAPACITY="2")
    jobs = [stage.enqueue("report") for _ in range(2)]
    stage.lambda_.tick()
    until(lambda: {stage.row(job).state for job in jobs} == {"running"})
    stage.enqueue()
    stage.lambda_.tick()
    # Only the two jobs still run: a tick at the same time would store the time at which the last one became due.
    until(lambda: stage.lambda_.pending == len(jobs))
    pass_time_with_ticks(stage, LATE)
    yield {}


@contextmanager
def storm(lab: Lab) -> Iterator[dict[str, str]]:
    stage = lab.start(
        MINUTEHAND_CAPACITY=str(MANY), MINUTEHAND_CHUNK="10", MINUTEHAND_JOBS_PER_INVOCATION="10"
    )
    soon = Retry(strategy="fixed", min=timedelta(seconds=30), jitter=False)
    for _ in range(MANY):
        stage.enqueue("sync", retry=soon)
    stage.enqueue(priority=0)
    stage.lambda_.tick()
    stage.lambda_.settle()
    assert stage.sql("select count(*) from minutehand.jobs_live where error is not null") == [(MANY,)]
    pass_time_with_ticks(stage, LATE)
    yield {}


@contextmanager
def removed(lab: Lab) -> Iterator[dict[str, str]]:
    stage = lab.start()
    stage.enqueue("withdrawn")
    stage.lambda_.tick()
    stage.lambda_.settle()
    yield {}


@contextmanager
def lost(lab: Lab) -> Iterator[dict[str, str]]:
    stage = lab.start()
    stage.lambda_.tick()
    stage.lambda_.settle()
    stage.enqueue()
    environment = lab.on_aws(stage)
    lab.account.scheduler.delete_schedule(GroupName="shop", Name="shop-tick")
    stage.pass_time(3600)
    yield environment


def enqueue_large(stage: Stage) -> None:
    for _ in range(MEGABYTES * 10):
        stage.enqueue(payload="x" * 200_000)


@contextmanager
def full(lab: Lab) -> Iterator[dict[str, str]]:
    name = psycopg.conninfo.conninfo_to_dict(lab.database.admin_url)["dbname"]
    with small_disk() as disk, on_disk(lab.address.admin_url, str(name), disk) as filling:
        stage = lab.start()
        fill(filling)
        with pytest.raises(BusyError):
            enqueue_large(stage)
        try:
            yield lab.on_aws(stage)
            filling.unlink()
            stage.enqueue()
        finally:
            # The database leaves the disk only without sessions.
            lab.stack.close()


@contextmanager
def snapshot(lab: Lab) -> Iterator[dict[str, str]]:
    stage = lab.start()
    with psycopg.connect(lab.database.admin_url, application_name="analytics") as other:
        other.execute("set transaction isolation level repeatable read")
        other.execute("select 1")
        stage.lambda_.tick()
        stage.lambda_.settle()
        age = "select clock_timestamp() - xact_start > %(s)s from pg_stat_activity where pid = %(pid)s"
        oldest = {"s": timedelta(seconds=SNAPSHOT_SECONDS), "pid": other.info.backend_pid}
        until(lambda: stage.sql(age, **oldest) == [(True,)], seconds=SNAPSHOT_SECONDS * 2)
        yield {}


@contextmanager
def forbidden(lab: Lab) -> Iterator[dict[str, str]]:
    """The functions' login lacks a privilege, so that every tick fails."""
    url = urlsplit(lab.database.url)
    login = sql.Identifier(name := f"functions_{uuid4().hex[:12]}")
    with psycopg.connect(lab.database.admin_url, autocommit=True) as admin:
        admin.execute(sql.SQL("create role {} login password 'x' in role minutehand_worker").format(login))
        admin.execute("revoke update on minutehand.dispatcher from minutehand_worker")
        own = url._replace(netloc=f"{name}:x@{url.hostname}:{url.port}").geturl()
        try:
            stage = lab.start(url=own)
            stage.lambda_.tick()
            stage.lambda_.settle()
            stage.pass_time(LATE)
            assert any("permission denied" in line for _, line in stage.home.output)
            yield lab.on_aws(stage)
        finally:
            lab.stack.close()
            admin.execute(sql.SQL("drop role {}").format(login))


@contextmanager
def behind(lab: Lab) -> Iterator[dict[str, str]]:
    """The operator's machine is an hour behind; jobs go by the clock of the database alone."""
    stage = lab.start()
    job = stage.enqueue()
    stage.lambda_.tick()
    stage.lambda_.settle()
    assert stage.row(job).state == "done"
    yield hour_behind(lab.folder)


# By the names of the table.
CAUSES: dict[str, Cause] = {
    "Lambda throttles the workers": throttled,
    "a job stops its worker": killed,
    "a service hangs, and its jobs occupy all workers": hanging,
    "a service fails, and retries delay other jobs": storm,
    "a deployment removed a handler": removed,
    "the schedule was lost": lost,
    "the disk is full": full,
    "a transaction stays open": snapshot,
    "a role lacks a privilege": forbidden,
    "a clock is wrong": behind,
}
