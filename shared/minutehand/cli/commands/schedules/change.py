"""`minutehand schedules pause`, `resume`, `run`, `rm` and `install`."""

import click

from minutehand import schedules as library
from minutehand.cli import text
from minutehand.cli.actor import actor
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import print_message, put_json
from minutehand.schedules import Installed
from minutehand.settings import code_version


@click.command()
@click.argument("name")
@tenant_option
@connection_options
def rm(name: str) -> None:
    """Remove a schedule; the jobs that it enqueued stay."""
    with open_database() as database:
        library.remove(database, name, actor=actor())
    print_message(f"{name} removed")


@click.command()
@click.argument("name")
@tenant_option
@connection_options
def pause(name: str) -> None:
    """Stop a schedule until `resume`."""
    with open_database() as database:
        library.pause(database, name, actor=actor())
    print_message(f"{name} paused")


@click.command(short_help="Resume a schedule; skip the occurrences it missed.")
@click.argument("name")
@tenant_option
@connection_options
def resume(name: str) -> None:
    """Resume a schedule; occurrences that passed while it was paused do not fire."""
    with open_database() as database:
        stored = library.resume(database, name, actor=actor())
    print_message(f"{name} resumed; next: {text.local(stored.next) if stored.next else 'never'}")


@click.command(short_help="Enqueue a schedule's job now.")
@click.argument("name")
@tenant_option
@connection_options
def run(name: str) -> None:
    """Enqueue a schedule's job now, in addition to its own occurrences, and print the job's id."""
    with open_database() as database:
        click.echo(str(library.run_now(database, name, actor=actor())))


@click.command(short_help="Install the schedules that a module declares.")
@click.argument("place", metavar="MODULE[:NAME]")
@click.option("--source", default="code", show_default=True, help="Name of the source of these schedules.")
@click.option("--version", help="Version of the code; a new one fires @reboot again.  [MINUTEHAND_VERSION]")
@output_option("table", "json")
@tenant_option
@connection_options
def install(place: str, source: str, version: str | None, form: str) -> None:
    """Make the schedules of a source exactly those that a Python module declares.

    Unchanged schedules keep their next occurrence; schedules that are no longer declared are removed.
    """
    declared = library.load(place)
    with open_database() as database:
        installed = library.install(database, declared, source, version=version or code_version())
    if form == "json":
        put_json(installed)
    else:
        print_message(_summary(installed))


def _summary(installed: Installed) -> str:
    counts = {
        outcome: getattr(installed, outcome) for outcome in ("added", "changed", "unchanged", "removed")
    }
    return ", ".join(f"{len(names)} {outcome}" for outcome, names in counts.items())
