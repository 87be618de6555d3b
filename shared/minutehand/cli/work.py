"""`minutehand work`: a worker that stays, and leaves cleanly."""

import os
import socket
import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click

from minutehand.cli.options import (
    connection_options,
    open_database,
    output_option,
    said_url,
    url_of_local_run,
)
from minutehand.cli.output import put_json, say
from minutehand.cli.stop import Stop
from minutehand.cli.supervise import Crew
from minutehand.cli.values import duration
from minutehand.database import Database
from minutehand.errors import ConflictError, UnreachableError
from minutehand.handlers import HandlerPackage
from minutehand.job import Worker
from minutehand.model.event import Event
from minutehand.settings import code_version, read_settings
from minutehand.web.delivery.fallback import deliver_if_routed
from minutehand.work import work as work_on

RECONNECT_SECONDS = 5.0


@click.command()
@click.option("--queue", default="default", show_default=True, help="The queue to work off.")
@click.option(
    "--chunk",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="How many jobs to take at a time.",
)
@click.option(
    "--idle", type=duration, default="1s", show_default=True, help="How long to wait when nothing was due."
)
@click.option(
    "--lease",
    type=duration,
    default="5m",
    show_default=True,
    help="How long a job is claimed for; its time limit.",
)
@click.option("--drain", is_flag=True, help="End when nothing is due.")
@click.option(
    "--handlers",
    "folder",
    metavar="DIR",
    default="functions/worker/handlers",
    show_default=True,
    help="The folder of the handlers, a file for each kind.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="How many workers side by side.",
)
@click.option(
    "--follow-stdin", is_flag=True, hidden=True, help="End when stdin closes, and so with the process above."
)
@output_option("table", "json")
@connection_options
def work(folder: str, processes: int, follow_stdin: bool, form: str, **asked: Any) -> int:
    """Work a queue off on this machine, with the same handlers as on Lambda.

    The first SIGTERM or Ctrl-C lets the current job finish and gives back what has not begun, which costs no
    attempt; the exit code is 0. A second one interrupts the current job and gives it back, too; the exit code
    is 130. Each job is a line on stderr, or with -o json on stdout.

    \b
    Examples:
      minutehand work
      minutehand work --queue mail --processes 4
      minutehand work --drain -o json
    """
    if asked["lease"] <= timedelta():
        raise click.BadParameter("a lease is longer than nothing", param_hint="--lease")
    handlers = _handlers(Path(folder))
    if processes > 1:
        return _crew(processes, form)
    stop = Stop()
    stop.listen()
    if follow_stdin:
        stop.follow(0)
    with open_database() as database:
        say(f"working on {asked['queue']}; Ctrl-C ends it")
        return _work(database, handlers, stop, form, **asked)


def _work(
    database: Database, handlers: HandlerPackage, stop: Stop, form: str, *, drain: bool, **asked: Any
) -> int:
    teller, worker = (
        Teller(stop, form),
        Worker(f"{socket.gethostname()}:{os.getpid()}", version=code_version()),
    )
    try:
        _resident(partial(
            work_on, database, handlers, stop, drain=drain, grace=read_settings().grace, observer=teller.tell,
            worker=worker, **asked
        ), stop, drain)  # fmt: skip
    except KeyboardInterrupt:
        say(f"interrupted; what was not finished is given back ({teller.told} handled)")
        return 130
    say(f"stopped; {teller.told} handled")
    return 0


def _resident(run: Callable[[], object], stop: Stop, drain: bool) -> None:
    """Run until stopped or drained; a database that goes away is waited for, unless nobody is to wait."""
    while True:
        try:
            run()
            return
        except (UnreachableError, ConflictError) as error:
            if drain:
                raise
            say(f"{error}; trying again")
            if stop.wait(RECONNECT_SECONDS):
                return


class Teller:
    """Tells of each job in a line, and knows when a handler runs."""

    def __init__(self, stop: Stop, form: str) -> None:
        """Tell in this form."""
        self._stop, self._form, self.told = stop, form, 0

    def tell(self, event: Event) -> None:
        """Tell how a job ended; its beginning only opens the time in which a second signal interrupts."""
        self._stop.interruptible = event.name in ("claimed", "extended")
        if event.name in ("claimed", "extended", "halted"):
            return
        self.told += 1
        if self._form == "json":
            facts = {name: getattr(event, name) for name in ("job", "kind", "queue", "attempt")}
            put_json({"at": event.at, "event": event.name, **facts, **event.facts})
        else:
            why = f", {event.facts['error_type']}" if "error_type" in event.facts else ""
            say(f"{event.at.astimezone():%H:%M:%S} {event.name:<9} {event.kind} {event.job} "
                f"({event.attempt} of {event.max_attempts}, {event.facts['ran_ms']} ms{why})")  # fmt: skip


def _handlers(folder: Path) -> HandlerPackage:
    """Make the folder importable under its own name, and make sure that nothing else bears it."""
    folder = folder.resolve()
    if not folder.is_dir():
        raise click.BadParameter(f"there is no folder {folder}; name yours", param_hint="--handlers")
    if not folder.name.isidentifier() or folder.name in sys.modules or folder.name in sys.stdlib_module_names:
        raise click.BadParameter(
            f"{folder.name!r} cannot be imported; call the folder `handlers`", param_hint="--handlers"
        )
    sys.path.insert(0, str(folder.parent))
    return HandlerPackage(folder.name, deliver_if_routed)


def _crew(processes: int, form: str) -> int:
    """Start workers that are told the same, but for their number; the database's URL stays out of their arguments."""
    ctx = click.get_current_context()
    command = [sys.executable, "-m", "minutehand", "work", "--follow-stdin", "-o", form]
    for name, option in (("queue", "--queue"), ("chunk", "--chunk"), ("folder", "--handlers")):
        command += [option, str(ctx.params[name])]
    for name, option in (("idle", "--idle"), ("lease", "--lease")):
        command += [option, f"{ctx.params[name].total_seconds():f}s"]
    command += ["--drain"] * ctx.params["drain"]
    url = said_url() or url_of_local_run()
    environment = {**os.environ, "DATABASE_URL": url} if url else os.environ
    return Crew(command, environment).run(processes)
