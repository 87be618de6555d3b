"""`minutehand share`: set or list the weights of tenants that share a queue."""

from functools import partial

import click

from minutehand.cli.actor import actor
from minutehand.cli.once import filter_option
from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.paging import all_pages
from minutehand.database import Database
from minutehand.model.share import HEAVIEST
from minutehand.operations import shares


@click.command()
@click.argument("weight", type=click.IntRange(1, HEAVIEST), required=False)
@filter_option("--of-tenant", "tenant", help="The tenant; '' for jobs without a tenant.")
@filter_option("--queue", default="", help="Only in this queue.")
@click.option("--remove", is_flag=True, help="Remove the weight, so that it is 1.")
@output_option("table", "json")
@connection_options
def share(weight: int | None, tenant: str | None, queue: str, remove: bool, form: str) -> int:
    """Set the WEIGHT of a tenant among those that share a queue. Without WEIGHT, list all weights.

    With weight 3, a tenant gets three offers for each offer of a tenant with weight 1, while both have due jobs.

    \b
    Examples:
      minutehand share 3 --of-tenant acme
      minutehand share 10 --of-tenant acme --queue mail
      minutehand share --of-tenant acme --queue mail --remove
      minutehand share
    """
    changes = remove or weight is not None
    if (remove and weight is not None) or changes != (tenant is not None) or (queue and not changes):
        raise click.UsageError(
            "expected --of-tenant with either WEIGHT or --remove; to list the weights, pass none of these options"
        )
    with open_database() as database:
        if tenant is None:
            return _list(database, form)
        if weight is None:
            return _remove(database, tenant, queue, form)
        made = shares.share(database, weight, tenant=tenant, queue=queue, actor=actor())
    put_json(made) if form == "json" else print_message(
        f"tenant {tenant or '(none)'} has weight {made.weight} in {f'queue {queue}' if queue else 'all queues'}"
    )
    return 0


def _remove(database: Database, tenant: str, queue: str, form: str) -> int:
    ended = shares.unshare(database, tenant=tenant, queue=queue, actor=actor())
    if form == "json":
        put_json({"ended": ended})
    else:
        print_message("The weight was removed." if ended else "No weight was set with exactly these options.")
    return 0 if ended else 1


def _list(database: Database, form: str) -> int:
    found = all_pages(partial(shares.list_shares, database), lambda share: share.place)
    if form == "json":
        for each in found:
            put_json(each)
    elif rows := [[each.tenant or "(none)", each.queue or "(all)", str(each.weight)] for each in found]:
        put_table(["tenant", "queue", "weight"], rows)
    else:
        print_message("All tenants have weight 1.")
    return 0
