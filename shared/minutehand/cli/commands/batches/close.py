"""`minutehand batches close`: close a batch."""

import click

from minutehand.cli.actor import actor
from minutehand.cli.ids import GivenId, full_batch_id
from minutehand.cli.options import connection_options, open_database, tenant_option
from minutehand.cli.output import print_message
from minutehand.cli.values import batch_id
from minutehand.operations import batches


@click.command()
@click.argument("batch", type=batch_id)
@tenant_option
@connection_options
def close(batch: GivenId) -> None:
    """Close a batch that a program left open: it ends with its last job."""
    with open_database() as database:
        batch = full_batch_id(database, batch)
        closed = batches.close(database, batch, actor=actor())
    print_message(f"{batch} {'closed' if closed else 'was closed before'}")
