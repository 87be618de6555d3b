"""`minutehand schedules resume`: resume a schedule."""

import click

from minutehand import schedules as library
from minutehand.cli import text
from minutehand.cli.actor import actor
from minutehand.cli.options import connection_options, open_database, tenant_option
from minutehand.cli.output import print_message


@click.command(short_help="Resume a schedule; skip the occurrences it missed.")
@click.argument("name")
@tenant_option
@connection_options
def resume(name: str) -> None:
    """Resume a schedule; occurrences that passed while it was paused do not fire."""
    with open_database() as database:
        stored = library.resume(database, name, actor=actor())
    print_message(f"{name} resumed; next: {text.local(stored.next) if stored.next else 'never'}")
