"""`minutehand schedules delete`: delete a schedule."""

import click

from minutehand import schedules as library
from minutehand.cli.actor import actor
from minutehand.cli.options import connection_options, open_database, tenant_option
from minutehand.cli.output import print_message


@click.command()
@click.argument("name")
@tenant_option
@connection_options
def delete(name: str) -> None:
    """Delete a schedule; the jobs that it enqueued stay."""
    with open_database() as database:
        library.delete(database, name, actor=actor())
    print_message(f"{name} deleted")
