"""`minutehand batches retry`: retry the jobs of a batch."""

import click

from minutehand.cli.actor import actor
from minutehand.cli.change_jobs import report_changes
from minutehand.cli.ids import GivenId, full_batch_id
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.values import batch_id
from minutehand.operations import batches

NOTHING = "The batch has no dead, expired or cancelled job; nothing was retried."


@click.command(short_help="Retry the unsuccessful jobs of a batch and its nested ones.")
@click.argument("batch", type=batch_id)
@output_option("table", "json", "ids")
@tenant_option
@connection_options
def retry(batch: GivenId, form: str) -> int:
    """Retry the dead, expired and cancelled jobs of a batch and of those nested in it."""
    with open_database() as database:
        batch = full_batch_id(database, batch)
        changes = batches.retry_batch(database, batch, actor=actor())
        return report_changes("retried", changes, form, nothing=NOTHING)
