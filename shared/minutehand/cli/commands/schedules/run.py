"""`minutehand schedules run`: enqueue the job of a schedule now."""

import click

from minutehand import schedules as library
from minutehand.cli.actor import actor
from minutehand.cli.options import connection_options, open_database, tenant_option


@click.command(short_help="Enqueue a schedule's job now.")
@click.argument("name")
@tenant_option
@connection_options
def run(name: str) -> None:
    """Enqueue a schedule's job now, in addition to its own occurrences, and print the job's id."""
    with open_database() as database:
        click.echo(str(library.run_now(database, name, actor=actor())))
