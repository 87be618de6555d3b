"""Run: start Postgres, the functions of a template, ticks and the API, until Ctrl-C."""

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Any

from rich.console import Console

from emulator.emulation import Emulator
from emulator.gateway import Gateway
from emulator.misbehavior import Misbehavior
from minutehand.database import Database
from minutehand.enqueue import enqueue
from minutehand.local.home import receive, serve_database
from minutehand.local.process import parsed
from minutehand.local.receiver import Receiver
from minutehand.local.seed import seed_jobs
from minutehand.local.show import Show
from minutehand.local.stored import StoredJobs
from minutehand.model.encoding import to_base64
from minutehand.model.row import FINISHED, STATES
from minutehand.queries.jobs import list_jobs
from minutehand.schema.migrate import migrate
from minutehand.settings.table import API_TOKENS, DATABASE_TLS

WATCH_SECONDS = 0.3
WORST: dict[str, Any] = {
    "kill": 0.05,
    "freeze": 0.05,
    "overrun": 1,
    "duplicate": 0.05,
    "late": 0.05,
    "lose": 0.05,
}
UNFINISHED = [state for state in STATES if state not in FINISHED]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The options of a run."""

    template: Path
    port: int = 8080
    lambda_port: int = 0
    every: float = 60.0
    concurrency: int = 10
    python: str | None = None
    freeze: bool = True
    seed: bool = True
    until_idle: bool = False
    worst: int | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


def run(plan: Plan, console: Console, stop: Event) -> None:
    """Start everything, print events until `stop` is set, and stop everything in reverse order."""
    with ExitStack() as stack:
        url = stack.enter_context(serve_database(console))
        show = Show(console, StoredJobs(url).find)
        console.print(f"schema      {'created' if migrate(url) else 'up to date'}")
        signing = f"whsec_{to_base64(secrets.token_bytes(24))}"
        receiver = stack.enter_context(receive(signing))
        environment = {**_environment(url, receiver, signing), **plan.environment}
        console.print("functions   building ...", end="\r")
        emulator = stack.enter_context(_emulator(plan, environment, console, show))
        console.print(f"functions   {', '.join(emulator.template.functions)}")
        console.print(f"Lambda      AWS_ENDPOINT_URL_LAMBDA={emulator.url}")
        worst = _worst(plan)
        stack.enter_context(worst.upon(emulator))
        stack.enter_context(_api(plan, emulator, console, environment["MINUTEHAND_API_TOKENS"]))
        console.print(f"ticks       every {plan.every:g} s, starting now\n")
        if plan.seed:
            for job in seed_jobs(plan.template.absolute().parent, receiver.url):
                enqueue(**job, connection=Database(url))
        stack.enter_context(_ticks(plan, emulator, stop))
        _watch(plan, emulator, Database(url), stop)
        _report(emulator, console)
        if plan.worst is not None:
            console.print(f"--worst {plan.worst}   {worst.summary}", soft_wrap=True)
    console.print(f"stopped: {show.summary()}")


def _environment(url: str, receiver: Receiver, signing: str) -> dict[str, str]:
    return {
        "DATABASE_URL": url,
        "MINUTEHAND_DATABASE_TLS": DATABASE_TLS.text(),
        "MINUTEHAND_HTTP_SECRETS": signing,
        "MINUTEHAND_HTTP_ALLOW": receiver.url.removeprefix("http://"),
        "MINUTEHAND_API_TOKENS": API_TOKENS.text() or secrets.token_urlsafe(24),
        "POWERTOOLS_TRACE_DISABLED": "1",
    }


def _emulator(plan: Plan, environment: Mapping[str, str], console: Console, show: Show) -> Emulator:
    return Emulator(
        plan.template,
        environment=environment,
        parameters=plan.parameters,
        python=plan.python,
        concurrency=plan.concurrency,
        freeze=plan.freeze,
        port=plan.lambda_port,
        report=lambda line: console.print(f"functions   {line}", highlight=False, soft_wrap=True),
        log=lambda function, line: show.log(function.removesuffix("Function").lower(), parsed(line)),
    )


def _worst(plan: Plan) -> Misbehavior:
    """Return the misbehavior; without a seed Lambda only stops long chains."""
    return Misbehavior(0) if plan.worst is None else Misbehavior(plan.worst, frozen=10.0, **WORST)


@contextmanager
def _api(plan: Plan, emulator: Emulator, console: Console, tokens: str) -> Iterator[None]:
    function = next((each for each in emulator.template.functions.values() if each.http), None)
    if function is None or not plan.port:
        yield
        return
    with Gateway(lambda event: emulator.invoke(function.id, event), plan.port) as gateway:
        token = tokens.split(",")[0]
        console.print(
            f"API         curl -H 'authorization: Bearer {token}' {gateway.url}/jobs", soft_wrap=True
        )
        yield


@contextmanager
def _ticks(plan: Plan, emulator: Emulator, stop: Event) -> Iterator[None]:
    def tick() -> None:
        due = time.monotonic()
        while not stop.is_set():
            emulator.tick()
            due += plan.every
            stop.wait(max(0.0, due - time.monotonic()))

    thread = Thread(target=tick)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _watch(plan: Plan, emulator: Emulator, database: Database, stop: Event) -> None:
    while not stop.wait(WATCH_SECONDS):
        idle = not emulator.pending and not list_jobs(database, states=UNFINISHED, limit=1).rows
        if plan.until_idle and idle:
            stop.set()


def _report(emulator: Emulator, console: Console) -> None:
    console.print()
    for id, used in emulator.meter.functions.items():
        console.print(
            f"{id:<20} {used.invocations} invocations, {used.cold_starts} cold, {used.errors} errors, "
            f"{used.throttles} throttles, {used.billed_ms} ms billed, {used.gb_seconds:.3f} GB-s",
            highlight=False,
            soft_wrap=True,
        )
    for failure in emulator.failures:
        context = failure.record["requestContext"]
        console.print(
            f"failed      {failure.function} {context['requestId']} {context['condition']}", soft_wrap=True
        )
