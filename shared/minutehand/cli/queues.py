"""`minutehand queues`: the names of the queues there are."""

import click

from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.queries.jobs import list_queues


@click.command()
@output_option("table", "json")
@tenant_option
@connection_options
def queues(form: str) -> None:
    """List the queues that have or had jobs, or of which something is set.

    \b
    Examples:
      minutehand queues
      minutehand queues -o json
    """
    with open_database() as database:
        found = list_queues(database)
    if form == "json":
        for name in found:
            put_json({"queue": name})
    elif found:
        put_table(["queue"], [[name] for name in found])
    else:
        say("There are no queues yet; enqueue a job, and its queue is there.")
