"""`minutehand queues`: list queues."""

from functools import partial

import click

from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.paging import all_pages
from minutehand.queries.jobs import list_queues


@click.command()
@output_option("table", "json")
@tenant_option
@connection_options
def queues(form: str) -> None:
    """List queues that have or had jobs or settings.

    \b
    Examples:
      minutehand queues
      minutehand queues -o json
    """
    with open_database() as database:
        found = all_pages(partial(list_queues, database))
        if form == "json":
            for name in found:
                put_json({"queue": name})
        elif rows := [[name] for name in found]:
            put_table(["queue"], rows)
        else:
            print_message("There are no queues yet; enqueueing a job creates its queue.")
