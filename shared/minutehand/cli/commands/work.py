"""`minutehand work`: a resident worker."""

import os
import socket
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import click

from minutehand.cli.exits import INTERRUPTED, OK
from minutehand.cli.handler_source import find_handlers
from minutehand.cli.metrics_endpoint import serving_metrics
from minutehand.cli.options import connection_options, handlers_database, open_database, output_option
from minutehand.cli.output import print_message, put_json
from minutehand.cli.stop import Stop
from minutehand.cli.values import duration
from minutehand.cli.work_crew import run_crew
from minutehand.database import Database
from minutehand.errors import PASSING, InvalidJobError
from minutehand.handlers import HandlerPackage
from minutehand.model.event import Event
from minutehand.model.queues import Queues
from minutehand.model.worker import Worker
from minutehand.settings import code_version, read_settings
from minutehand.work import work as run_worker

RECONNECT_SECONDS = 5.0


@click.command()
@click.option(
    "--queue",
    "names",
    multiple=True,
    metavar="NAME[=WEIGHT]",
    help="A queue to process, and its weight. Repeat the option or use commas for several.  [all queues]",
)
@click.option("--strict", is_flag=True, help="Process a queue only while those before it have no due job.")
@click.option(
    "--chunk", type=click.IntRange(1, 1000), default=10, show_default=True, help="Jobs to claim at a time."
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    help="Async jobs of a chunk to run at the same time.  [MINUTEHAND_CONCURRENCY, or 10]",
)
@click.option("--idle", type=duration, default="1s", show_default=True, help="Pause when no job is due.")
@click.option(
    "--lease",
    type=duration,
    default="5m",
    show_default=True,
    help="Time limit of an attempt, and lease of its claim, for jobs without a timeout.",
)
@click.option("--drain", is_flag=True, help="Exit when no job is due.")
@click.option(
    "--stop-timeout",
    type=duration,
    help="How long running jobs may continue after SIGTERM or Ctrl-C.  [until their leases end]",
)
@click.option(
    "--handlers",
    "sources",
    metavar="MODULE|DIR",
    multiple=True,
    help="A module with jobs, such as shop.jobs, or a folder with one file for each kind; repeatable, in addition to "
    "the modules of MINUTEHAND_HANDLERS or of the project.",
)
@click.option(
    "--processes", type=click.IntRange(1, 256), default=1, show_default=True, help="Number of processes."
)
@click.option(
    "--metrics-port",
    type=click.IntRange(1, 65535),
    help="Serve metrics for Prometheus at this port; several processes use this port and those after it.",
)
@click.option(
    "--metrics-host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="The address at which the metrics are served.",
)
@click.option(
    "--follow-stdin", is_flag=True, hidden=True, help="Stop when stdin closes, as the parent exits."
)
@output_option("table", "json")
@connection_options
def work(
    names: tuple[str, ...],
    strict: bool,
    sources: tuple[str, ...],
    processes: int,
    metrics_port: int | None,
    metrics_host: str,
    follow_stdin: bool,
    form: str,
    **options: Any,
) -> int:
    """Process queues on this machine, with the same handlers as on Lambda.

    Without --queue, all queues are processed, including those that appear later. While several queues have due jobs,
    each gets jobs in proportion to its weight, which is 1 unless you set it.

    On SIGTERM or Ctrl-C, the running jobs finish, jobs that were claimed but not started are released without costing
    an attempt, and the exit code is 0. After --stop-timeout, or on a second signal, the running jobs are interrupted
    and released too; the exit code is then 130. Each job is printed as a line on stderr, or with -o json on stdout.

    \b
    Examples:
      minutehand work
      minutehand work --queue mail=3,reports --processes 4
      minutehand work --queue urgent,mail --strict --stop-timeout 25s
      minutehand work --handlers shop.jobs --drain -o json
      minutehand work --metrics-port 9464
    """
    queues = _queues(names, strict)
    options["concurrency"] = options["concurrency"] or read_settings().concurrency
    if options["lease"] <= timedelta():
        raise click.BadParameter("must be above zero, got 0s", param_hint="--lease")
    with handlers_database():
        handlers = find_handlers(sources)
        if processes > 1:
            return run_crew(processes, form)
        stop = Stop()
        stop.listen(options.pop("stop_timeout"))
        if follow_stdin:
            stop.follow(0)
        with open_database() as database, serving_metrics(metrics_host, metrics_port):
            print_message(f"working on {queues}; press Ctrl-C to stop")
            return _work(database, handlers, stop, form, queues=queues.weights, strict=strict, **options)


def _work(
    database: Database, handlers: HandlerPackage, stop: Stop, form: str, *, drain: bool, **options: Any
) -> int:
    printer = Printer(stop, form)
    run = partial(
        run_worker,
        database,
        handlers,
        stop,
        drain=drain,
        grace=read_settings().grace,
        hook=printer.put,
        worker=Worker(f"{socket.gethostname()}:{os.getpid()}", version=code_version()),
        **options,
    )
    try:
        _run_resident(run, stop, drain)
    except KeyboardInterrupt:
        print_message(f"interrupted; unfinished jobs were released ({printer.count} handled)")
        return INTERRUPTED
    print_message(f"stopped; {printer.count} handled")
    return OK


def _run_resident(run: Callable[[], object], stop: Stop, drain: bool) -> None:
    """Run until stopped or drained; unless draining, try again after errors that may pass."""
    while True:
        try:
            run()
            return
        except PASSING as error:
            if drain:
                raise
            print_message(f"{error}; retrying")
            if stop.wait(RECONNECT_SECONDS):
                return


class Printer:
    """Prints a line for each finished attempt, and lets signals interrupt only running handlers."""

    def __init__(self, stop: Stop, form: str) -> None:
        """Print in an output format."""
        self._stop, self._form, self.count = stop, form, 0
        self._running: set[UUID | None] = set()

    def put(self, event: Event) -> None:
        """Print the end of an attempt."""
        if event.name in ("claimed", "extended"):
            self._running.add(event.job)
            self._stop.allow_interrupts(True)
            return
        self._running.discard(event.job)
        if not self._running:
            self._stop.allow_interrupts(False)
        if event.name == "halted":
            return
        self.count += 1
        if self._form == "json":
            facts = {name: getattr(event, name) for name in ("job", "kind", "queue", "attempt")}
            cause = {"cause": event.cause} if event.cause else {}
            put_json({"at": event.at, "event": event.name, **facts, **event.facts, **cause})
            return
        error = f", {event.cause}" if event.cause else ""
        attempt = f"({event.attempt} of {event.max_attempts}, {event.facts['ran_ms']} ms{error})"
        print_message(f"{event.at.astimezone():%H:%M:%S} {event.name:<9} {event.kind} {event.job} {attempt}")


def _queues(names: tuple[str, ...], strict: bool) -> Queues:
    try:
        return Queues.parse(names, strict)
    except InvalidJobError as error:
        raise click.BadParameter(str(error), param_hint="--queue") from None
