"""`minutehand pause`, `resume`, `limit`, `unlimit` and `controls`: what holds jobs up on purpose, on every node."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

import click

from minutehand.cli import text
from minutehand.cli.change import later
from minutehand.cli.options import connection_options, open_database, output_option, tz_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.values import duration, option_moment
from minutehand.cli.who import who
from minutehand.operations import controls as control
from minutehand.queries.jobs import clock

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def names(command: Decorated) -> Decorated:
    """Add what is paused or limited."""
    for option in (
        connection_options,
        output_option("table", "json"),
        click.option("--of-tenant", "tenant", default="", help="The jobs of this tenant."),
        click.option("--key", default="", help="The jobs with this key."),
        click.option("--kind", default="", help="The jobs of this kind."),
        click.option("--queue", default="", help="The jobs of this queue."),
    ):
        command = option(command)
    return command


@click.command()
@click.option("--until", metavar="MOMENT", help="Until then: ISO 8601 with an offset, or with --tz.")
@click.option("--for", "span", type=duration, help="For so long, as 30m.")
@click.option("--why", help="Why, for whoever wonders.")
@tz_option
@names
def pause(
    until: str | None, span: timedelta | None, why: str | None, tz: str | None, form: str, **named: str
) -> None:
    """Pause a queue, a kind, a key or a tenant on every node at once; what runs runs to its end.

    Several of them together mean the jobs that all of them are about.

    \b
    Examples:
      minutehand pause --queue mail --why "the provider is down"
      minutehand pause --kind invoice.send --for 30m
    """
    if until is not None and span is not None:
        raise click.UsageError("say --until or --for, one of them")
    moment = None if until is None else option_moment(until, tz, "--until")
    with open_database() as database:
        moment = later(database, span) if span is not None else moment
        if moment is not None and moment <= clock(database):
            raise click.BadParameter(f"{text.local(moment)} is over already", param_hint="--until")
        _put(control.pause(database, **named, until=moment, why=why, who=who()), form)


@click.command()
@names
def resume(form: str, **named: str) -> int:
    """Resume what was paused by the same names.

    \b
    Examples:
      minutehand resume --queue mail
    """
    with open_database() as database:
        return _ended(control.resume(database, **named, who=who()), "paused", form)


@click.command()
@click.argument("most", type=click.IntRange(0))
@click.option("--why", help="Why, for whoever wonders.")
@names
def limit(most: int, why: str | None, form: str, **named: str) -> None:
    """Limit a queue, a kind, a key or a tenant to MOST jobs offered or running at once.

    Several of them together mean the jobs that all of them are about.

    \b
    Examples:
      minutehand limit 2 --kind report
      minutehand limit 1 --queue mail --key customer/4711
    """
    with open_database() as database:
        _put(control.limit(database, most, **named, why=why, who=who()), form)


@click.command()
@names
def unlimit(form: str, **named: str) -> int:
    """End the limit that was set by the same names.

    \b
    Examples:
      minutehand unlimit --kind report
    """
    with open_database() as database:
        return _ended(control.unlimit(database, **named, who=who()), "limited", form)


@click.command()
@output_option("table", "json")
@connection_options
def controls(form: str) -> None:
    """List what is paused or limited, and how many jobs of it are offered or running.

    \b
    Examples:
      minutehand controls
    """
    with open_database() as database:
        found = control.list_controls(database)
    if form == "json":
        for each in found:
            put_json(each)
    elif not found:
        say("Nothing is paused or limited.")
    else:
        heads = ["queue", "kind", "key", "tenant", "paused", "most", "busy", "why", "since"]
        put_table(heads, [_row(each) for each in found])


def _row(each: control.Control) -> list[str]:
    until = f"until {text.local(each.until)}" if each.until else "yes"
    since = text.local(each.changed) if each.changed else ""
    most = "" if each.most is None else str(each.most)
    return [
        each.queue, each.kind, each.key, each.tenant, until if each.paused else "", most, str(each.busy),
        each.why or "", since,
    ]  # fmt: skip


def _put(each: control.Control, form: str) -> None:
    if form == "json":
        put_json(each)
        return
    paused = f"paused{f' until {text.local(each.until)}' if each.until else ''}" if each.paused else ""
    limited = "" if each.most is None else f"at most {each.most} at once"
    say(f"{each.told}: {', '.join(filter(None, [paused, limited]))}")


def _ended(ended: bool, what: str, form: str) -> int:
    if form == "json":
        put_json({"ended": ended})
    else:
        say(f"It is no longer {what}." if ended else f"Nothing was {what} by these names.")
    return 0 if ended else 1
