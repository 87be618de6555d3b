"""`minutehand unblock`: continue a group that is blocked by a dead job or by `RetryAfter`."""

import click

from minutehand.cli.actor import actor
from minutehand.cli.once import filter_option
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import print_message, put_json
from minutehand.operations import controls


@click.command()
@click.argument("group")
@filter_option("--queue", default="default", show_default=True, help="The queue of the group.")
@filter_option("--of-tenant", "tenant", default="", help="The tenant of the group.")
@output_option("table", "json")
@connection_options
def unblock(group: str, queue: str, tenant: str, form: str) -> int:
    """Unblock a GROUP that is blocked by a dead job, or by a handler that raised RetryAfter.

    The dead job stays dead. A breaker stays open.

    \b
    Examples:
      minutehand unblock customer-4711 --queue orders
    """
    with open_database() as database:
        ended = controls.unblock(database, group, queue=queue, tenant=tenant, actor=actor())
    if form == "json":
        put_json({"ended": ended})
    else:
        print_message(
            "The group continues."
            if ended
            else "No dead job blocked this group, and it did not wait because of RetryAfter."
        )
    return 0 if ended else 1
