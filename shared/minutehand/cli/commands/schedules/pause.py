"""`minutehand schedules pause`: pause a schedule."""

import click

from minutehand import schedules as library
from minutehand.cli.actor import actor
from minutehand.cli.options import connection_options, open_database, tenant_option
from minutehand.cli.output import print_message


@click.command()
@click.argument("name")
@tenant_option
@connection_options
def pause(name: str) -> None:
    """Pause a schedule until `schedules resume`."""
    with open_database() as database:
        library.pause(database, name, actor=actor())
    print_message(f"{name} paused")
