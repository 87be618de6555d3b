"""`minutehand schedules`: what is enqueued again and again: look at it, preview it, change it."""

from datetime import datetime, timedelta
from typing import Any

import click

from minutehand import schedules as library
from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.scheduling import put
from minutehand.cli.show import retry_text
from minutehand.cli.who import who
from minutehand.model.retry import Retry
from minutehand.queries.jobs import clock
from minutehand.schedules import Installed, StoredSchedule
from minutehand.settings import code_version


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def schedules() -> None:
    """List and change what is enqueued again and again.

    \b
    Examples:
      minutehand schedules put report '0 8 * * mon' report '{"n": 1}' --zone Europe/Berlin
      minutehand schedules preview '30 2 * * *' --zone America/Los_Angeles -n 4
      minutehand schedules ls
      minutehand schedules install our.schedules:SCHEDULES
    """


schedules.add_command(put)


@schedules.command()
@click.option("--source", help="Only those that this code declares.")
@output_option("table", "json", "names")
@tenant_option
@connection_options
def ls(source: str | None, form: str) -> None:
    """List schedules by name."""
    with open_database() as database:
        found = library.list_schedules(database, source)
        now = clock(database)
    if form == "json":
        for each in found:
            put_json(_told(each))
    elif form == "names":
        for each in found:
            click.echo(text.safe(each.schedule.name))
    elif not found:
        say("There are no schedules.")
    else:
        headers = ["name", "every", "zone", "kind", "next", "last", "tenant", "source"]
        put_table(headers, [_row(each, now) for each in found])


@schedules.command()
@click.argument("name")
@click.option("-n", "most", type=int, default=10, show_default=True, help="How many of its last moments.")
@output_option("table", "json")
@tenant_option
@connection_options
def show(name: str, most: int, form: str) -> None:
    """Show a schedule, and what became of its last moments."""
    with open_database() as database:
        stored, lines = library.get(database, name), library.list_firings(database, name, limit=most)
    if form == "json":
        put_json(_told(stored) | {"firings": lines})
        return
    put_table(
        ["what", "said"],
        [[name.replace("_", " "), _said(value)] for name, value in _told(stored).items() if value],
        headed=False,
    )
    put_table(["moment", "outcome", "count", "job"], [
        [text.local(line.nominal), line.outcome, str(line.count) if line.count > 1 else "", str(line.job or "")]
        for line in lines
    ])  # fmt: skip


@schedules.command()
@click.argument("name")
@tenant_option
@connection_options
def rm(name: str) -> None:
    """Remove a schedule; the jobs that it enqueued stay."""
    with open_database() as database:
        library.remove(database, name, actor=who())
    say(f"{name} removed")


@schedules.command()
@click.argument("name")
@tenant_option
@connection_options
def pause(name: str) -> None:
    """Have a schedule fire no more until `resume`."""
    with open_database() as database:
        library.pause(database, name, actor=who())
    say(f"{name} paused")


@schedules.command()
@click.argument("name")
@tenant_option
@connection_options
def resume(name: str) -> None:
    """Have a schedule go on; what its pause left out is not caught up with."""
    with open_database() as database:
        stored = library.resume(database, name, actor=who())
    say(f"{name} resumed; next: {text.local(stored.next) if stored.next else 'never'}")


@schedules.command()
@click.argument("name")
@tenant_option
@connection_options
def run(name: str) -> None:
    """Enqueue a schedule's job now, beside its own moments, and print the job's id."""
    with open_database() as database:
        click.echo(str(library.run_now(database, name, actor=who())))


@schedules.command()
@click.argument("every")
@click.option("--zone", help="The time zone whose clocks count.  [UTC]")
@click.option("-n", type=int, default=10, show_default=True, help="How many moments.")
@output_option("table", "json")
def preview(every: str, zone: str | None, n: int, form: str) -> None:
    """Show the next moments of EVERY, in local time and UTC; no database is asked."""
    moments = library.preview(every, zone, n)
    if form == "json":
        for moment in moments:
            put_json({"utc": moment.utc, "local": moment.local.isoformat()})
        return
    put_table(["local", "utc"], [
        [f"{moment.local:%a %Y-%m-%d %H:%M:%S %Z}", f"{moment.utc:%Y-%m-%d %H:%M:%S}"] for moment in moments
    ])  # fmt: skip


@schedules.command()
@click.argument("place", metavar="MODULE[:NAME]")
@click.option("--source", default="code", show_default=True, help="Whose schedules these are.")
@click.option("--version", help="The code's, with which @reboot fires anew.  [MINUTEHAND_VERSION]")
@output_option("table", "json")
@tenant_option
@connection_options
def install(place: str, source: str, version: str | None, form: str) -> None:
    """Make the schedules of a source exactly those that a Python module declares.

    What is declared as before is kept with its next moment; what is declared no more is removed.
    """
    declared = library.load(place)
    with open_database() as database:
        done = library.install(database, declared, source, version=version or code_version())
    if form == "json":
        put_json(done)
    else:
        say(_summed(done))


def _summed(done: Installed) -> str:
    told = {fate: getattr(done, fate) for fate in ("added", "changed", "kept", "removed")}
    return ", ".join(f"{len(names)} {fate}" for fate, names in told.items())


def _row(each: StoredSchedule, now: Any) -> list[str]:
    following = "paused" if each.paused else text.ago(each.next, now) if each.next else "never"
    last = text.ago(each.fired, now) if each.fired else ""
    said = each.schedule
    return [
        said.name,
        said.every,
        said.zone or "UTC",
        said.job.kind,
        following,
        last,
        each.tenant,
        each.source or "",
    ]


def _said(value: Any) -> str:
    match value:
        case datetime():
            return text.local(value)
        case timedelta():
            return text.span(value)
        case Retry():
            return retry_text(value)
        case dict():
            return ", ".join(f"{name} {_said(inner)}" for name, inner in value.items())
    return str(value)


def _told(each: StoredSchedule) -> dict[str, Any]:
    """Return what is shown of a schedule: its job without the payload, which may be nobody's business."""
    schedule = {name: value for name, value in vars(each.schedule).items() if name != "job"}
    job = {
        name: value
        for name, value in vars(each.schedule.job).items()
        if value is not None and name != "payload"
    }
    stored = {name: value for name, value in vars(each).items() if name not in ("schedule", "hash")}
    return schedule | {"job": job} | stored
