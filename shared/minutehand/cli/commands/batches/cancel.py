"""`minutehand batches cancel`: cancel the jobs of a batch."""

import click

from minutehand.cli.actor import actor
from minutehand.cli.change_jobs import report_changes
from minutehand.cli.ids import GivenId, full_batch_id
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.values import batch_id
from minutehand.operations import batches

NOTHING = "The batch has no unfinished job; nothing was cancelled."


@click.command()
@click.argument("batch", type=batch_id)
@click.option("--reason", default="on request", show_default=True, help="Reason, shown in the jobs' history.")
@click.option("--running", is_flag=True, help="Also ask running jobs to stop at their next check.")
@output_option("table", "json", "ids")
@tenant_option
@connection_options
def cancel(batch: GivenId, reason: str, running: bool, form: str) -> int:
    """Cancel the upcoming jobs of a batch and of those nested in it."""
    with open_database() as database:
        batch = full_batch_id(database, batch)
        changes = batches.cancel_batch(database, batch, reason=reason, running=running, actor=actor())
        return report_changes("cancelled", changes, form, nothing=NOTHING)
