"""The scope of pauses and limits: a queue, a kind, a key, a group, a tenant, or a combination."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import click

from minutehand.cli import text
from minutehand.cli.kinds import complete_kinds
from minutehand.cli.once import filter_option
from minutehand.cli.options import connection_options, output_option
from minutehand.cli.output import print_message, put_json
from minutehand.database import Database
from minutehand.errors import ForbiddenError
from minutehand.model.control import PER, SCOPE, Control
from minutehand.operations.controls import pause_of_everything

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def scope_options(command: Decorated) -> Decorated:
    """Add the options of a scope."""
    for option in (
        connection_options,
        output_option("table", "json"),
        filter_option("--of-tenant", "tenant", default="", help="Jobs of this tenant."),
        filter_option("--group", default="", help="Jobs of this group."),
        filter_option("--key", default="", help="Jobs with this key."),
        filter_option("--kind", default="", shell_complete=complete_kinds, help="Jobs of this kind."),
        filter_option("--queue", default="", help="Jobs in this queue."),
    ):
        command = option(command)
    return command


def per_option(command: Decorated) -> Decorated:
    """Add `--per`, for limits of each group, key or tenant."""
    return click.option("--per", type=click.Choice(PER), help="The limit of each group, key or tenant.")(
        command
    )


def everything_option(command: Decorated) -> Decorated:
    """Add `--all`, for commands that may apply to all jobs."""
    return click.option("--all", "everything", is_flag=True, help="All jobs of all queues.")(command)


def check_named(scope: Mapping[str, Any], *, last: str = "--all") -> None:
    """Raise a usage error if a scope has no names, or has names and is everything; `last` is its last option."""
    named = any(scope.get(name) for name in (*SCOPE, "per"))
    if named and scope.get("everything"):
        raise click.UsageError("expected --all or other options such as --queue, got both")
    if not named and not scope.get("everything"):
        raise click.UsageError(f"expected --queue, --kind, --key, --group, --of-tenant or {last}, got none")


def print_if_paused(database: Database) -> None:
    """Print that all jobs are paused, if they are and the caller may see it."""
    with suppress(ForbiddenError):
        if pause := pause_of_everything(database):
            until = f" until {text.local(pause.until)}" if pause.until else ""
            reason = f": {pause.reason}" if pause.reason else ""
            print_message(f"All jobs are paused{until}{reason}. To resume: minutehand resume --all")


def put_control(control: Control, form: str) -> None:
    """Print a pause or a limit."""
    if form == "json":
        put_json(control)
        return
    until = f" until {text.local(control.until)}" if control.until else ""
    paused = f"paused{until}" if control.paused else ""
    print_message(f"{control.scope}: {', '.join(filter(None, [paused, control.limits]))}")


def put_ended(ended: bool, what: str, form: str) -> int:
    """Print whether a pause or a limit was removed; return the exit code."""
    if form == "json":
        put_json({"ended": ended})
    else:
        print_message(f"No longer {what}." if ended else f"Nothing was {what} with exactly these options.")
    return 0 if ended else 1
