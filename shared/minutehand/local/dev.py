"""`minutehand dev`: run Postgres, the API, the dispatcher and workers on the loopback, until Ctrl-C."""

import os
import secrets
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

import click
from rich.console import Console

from minutehand.database import Database
from minutehand.enqueue import enqueue
from minutehand.local.errors import LocalError, PortInUseError
from minutehand.local.home import is_free, receive, serve_database
from minutehand.local.lambda_endpoint import LambdaEndpoint, Pools
from minutehand.local.pool import Pool
from minutehand.local.receiver import Receiver
from minutehand.local.seed import seed_jobs
from minutehand.local.show import Show
from minutehand.model.row import FINISHED, STATES
from minutehand.queries.jobs import list_jobs
from minutehand.schema.migrate import migrate
from minutehand.settings.table import HTTP_ALLOW, HTTP_SECRETS, OFFER_TTL

WATCH_SECONDS = 0.3
UNFINISHED = [state for state in STATES if state not in FINISHED]
DISPATCHER_SECONDS, WORKER_SECONDS = 30.0, 60.0


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The options of a local run."""

    root: Path
    port: int
    every: float
    workers: int
    seed: bool
    until_idle: bool


@click.command()
@click.option(
    "--port",
    default=8080,
    show_default=True,
    type=click.IntRange(1, 65535),
    help="Port of the API on 127.0.0.1.",
)
@click.option(
    "--every",
    default=1.0,
    show_default=True,
    type=click.FloatRange(0.1, 3600),
    help="Seconds between ticks (60 on AWS).",
)
@click.option(
    "--workers",
    default=2,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Maximum number of worker processes.",
)
@click.option(
    "--seed/--no-seed", default=True, help="Enqueue the example webhooks of events/seed at the start."
)
@click.option("--until-idle", is_flag=True, help="Stop when all jobs are finished.")
@click.option(
    "--root",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The directory that contains functions/.",
)
def dev(root: Path, port: int, every: float, workers: int, seed: bool, until_idle: bool) -> None:
    """Run everything on this machine and print its events.

    Postgres comes from a wheel and stores its data in .minutehand; set DATABASE_URL to use another server. The
    functions run in separate processes, as on Lambda. Press Ctrl-C to stop.

    \b
    minutehand dev                 start with the example webhooks
    minutehand dev --no-seed       start with an empty queue, or continue the last run
    """
    plan = Plan(
        root=root.absolute(), port=port, every=every, workers=workers, seed=seed, until_idle=until_idle
    )
    check(plan)
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    run(plan, Console(), stop)


def check(plan: Plan) -> None:
    """Raise LocalError if the run cannot start."""
    if not (plan.root / "functions" / "worker" / "app.py").exists():
        raise LocalError(
            f"{plan.root} does not contain functions/worker; run this in a minutehand project, or use --root"
        )
    if not is_free(plan.port):
        raise PortInUseError(
            f"port {plan.port} is in use; choose another with --port, or end the process that listens on it"
        )


def run(plan: Plan, console: Console, stop: Event) -> None:
    """Start everything, print events until `stop` is set, and stop everything in reverse order."""
    show = Show(console)
    with ExitStack() as stack:
        url = stack.enter_context(serve_database(console))
        applied = migrate(url)
        console.print(f"schema      {'created' if applied else 'up to date'}")
        signing = HTTP_SECRETS.text() or f"whsec_{b64encode(secrets.token_bytes(24)).decode()}"
        receiver = stack.enter_context(receive(signing.split(",")[0].strip()))
        environment = _environment(url, receiver, signing)
        stack.enter_context(_functions(plan, show, environment, stop))
        stack.enter_context(_api(plan, environment))
        console.print(f"API         http://127.0.0.1:{plan.port}  (accessible from this machine only)")
        console.print(f"console     http://127.0.0.1:{plan.port}/console")
        console.print(f"ticks       every {plan.every:g} s; on AWS every minute\n")
        _watch(plan, show, Database(url), receiver, stop)
    console.print(f"\nstopped: {show.summary()}")


def _environment(url: str, receiver: Receiver, signing: str) -> dict[str, str]:
    allowed = receiver.url.removeprefix("http://")
    return {
        "DATABASE_URL": url,
        "MINUTEHAND_LOCAL": "1",
        "MINUTEHAND_WORKER": "worker",
        "MINUTEHAND_OFFER_TTL": OFFER_TTL.text() or "15",
        "MINUTEHAND_HTTP_SECRETS": signing,
        "MINUTEHAND_HTTP_ALLOW": ",".join(filter(None, [HTTP_ALLOW.text(), allowed])),
        "AWS_REGION": "local",
        "AWS_DEFAULT_REGION": "local",
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "POWERTOOLS_TRACE_DISABLED": "1",
    }


@contextmanager
def _functions(plan: Plan, show: Show, environment: dict[str, str], stop: Event) -> Iterator[None]:
    functions = plan.root / "functions"
    worker = Pool("worker", functions / "worker", plan.workers, show.log, environment, WORKER_SECONDS)
    with LambdaEndpoint(Pools({"worker": worker})) as endpoint:
        reach = {**environment, "AWS_ENDPOINT_URL_LAMBDA": endpoint.url}
        dispatcher = Pool("dispatcher", functions / "dispatcher", 1, show.log, reach, DISPATCHER_SECONDS)
        ticking = Thread(target=_tick, args=(dispatcher, plan.every, stop))
        for pool in (worker, dispatcher):
            pool.start()
        ticking.start()
        try:
            yield
        finally:
            stop.set()
            ticking.join()
            dispatcher.close()
            worker.close()


def _tick(dispatcher: Pool, every: float, stop: Event) -> None:
    while not stop.wait(every):
        dispatcher.invoke({"scheduled": datetime.now(UTC).isoformat()})


@contextmanager
def _api(plan: Plan, environment: dict[str, str]) -> Iterator[None]:
    command = [
        sys.executable,
        "-m",
        "minutehand.local.serve_api",
        str(plan.root / "functions" / "api"),
        str(plan.port),
    ]
    api = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    try:
        yield
    finally:
        api.communicate(timeout=10)


def _watch(plan: Plan, show: Show, database: Database, receiver: Receiver, stop: Event) -> None:
    last = _newest(database)
    jobs = seed_jobs(plan.root, receiver.url) if plan.seed else []
    for job in jobs:
        enqueue(**job, connection=database)
    hinted = False
    while not stop.wait(WATCH_SECONDS):
        for record in database.run("list_enqueued", after=last, limit=200):
            show.enqueued(record)
            last = record["id"]
        if _idle(database):
            if plan.until_idle:
                stop.set()
            elif not hinted:
                show.hint(plan.port)
            hinted = True


def _newest(database: Database) -> UUID:
    rows = list_jobs(database, limit=1).rows
    return rows[0].id if rows else UUID(int=0)


def _idle(database: Database) -> bool:
    return not list_jobs(database, states=UNFINISHED, limit=1).rows
