"""`minutehand pause`: stop a queue, kind, key, group or tenant, or everything."""

from datetime import timedelta
from typing import Any

import click

from minutehand.cli import text
from minutehand.cli.actor import actor
from minutehand.cli.options import open_database, tz_option
from minutehand.cli.scope import check_named, everything_option, put_control, scope_options
from minutehand.cli.times import later
from minutehand.cli.values import duration, option_time
from minutehand.operations import controls
from minutehand.queries.jobs import clock


@click.command()
@click.option("--until", metavar="TIME", help="Resume at this time: ISO 8601 with an offset, or with --tz.")
@click.option("--for", "span", type=duration, help="Resume after this time, such as 30m.")
@click.option("--reason", help="Reason, shown in `controls`, `show` and the audit trail.")
@tz_option
@everything_option
@scope_options
def pause(
    until: str | None, span: timedelta | None, reason: str | None, tz: str | None, form: str, **scope: Any
) -> None:
    """Pause a queue, kind, key, group or tenant, or everything, on all dispatchers and workers. Running jobs continue.

    With several options, the jobs that match all of them are paused.

    \b
    Examples:
      minutehand pause --queue mail --reason "the provider is down"
      minutehand pause --kind invoice.send --for 30m
      minutehand pause --all --reason "the database is being upgraded"
    """
    check_named(scope)
    if until is not None and span is not None:
        raise click.UsageError("expected --until or --for, got both")
    moment = None if until is None else option_time(until, tz, "--until")
    with open_database() as database:
        moment = later(database, span, "--for") if span is not None else moment
        if moment is not None and moment <= clock(database):
            raise click.BadParameter(
                f"must be in the future, got {text.local(moment)}",
                param_hint="--until" if span is None else "--for",
            )
        put_control(controls.pause(database, **scope, until=moment, reason=reason, actor=actor()), form)
