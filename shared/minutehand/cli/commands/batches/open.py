"""`minutehand batches open`: open a batch."""

import click

from minutehand.batches import open_batch
from minutehand.batches.lifecycle import Callback
from minutehand.cli.ids import GivenId, full_batch_id
from minutehand.cli.kinds import check_against_project
from minutehand.cli.options import connection_options, open_database, tenant_option
from minutehand.cli.values import batch_id, job_or_kind


@click.command("open")
@click.option(
    "--on-complete", metavar="JOB", type=job_or_kind, help="Enqueue this when the last job has ended."
)
@click.option(
    "--on-failure", metavar="JOB", type=job_or_kind, help="Enqueue this instead if any job did not succeed."
)
@click.option("--name", help="Name of the batch, for people.")
@click.option("--parent", metavar="BATCH", type=batch_id, help="Nest the new batch in this one.")
@tenant_option
@connection_options
def open_(
    on_complete: Callback | None, on_failure: Callback | None, name: str | None, parent: GivenId | None
) -> None:
    """Open a batch and print its id, for `enqueue --batch`. The batch can end only after `batches close`."""
    check_against_project()
    with open_database() as database:
        parent = full_batch_id(database, parent) if parent else None
        opened = open_batch(
            database, on_complete=on_complete, on_failure=on_failure, name=name, parent=parent
        )
        click.echo(str(opened))
