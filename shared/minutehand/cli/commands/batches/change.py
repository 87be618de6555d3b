"""`minutehand batches open`, `cancel`, `retry` and `close`."""

from collections.abc import Iterable

import click

from minutehand.batches import open_batch
from minutehand.batches.lifecycle import Callback
from minutehand.cli.actor import actor
from minutehand.cli.change_jobs import Action, Report
from minutehand.cli.ids import GivenId, full_batch_id
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option
from minutehand.cli.output import print_message
from minutehand.cli.values import batch_id, job_or_kind
from minutehand.operations import batches
from minutehand.operations.change import Change


@click.command("open")
@click.option(
    "--on-complete", metavar="JOB", type=job_or_kind, help="Enqueue this when the last job has ended."
)
@click.option(
    "--on-failure", metavar="JOB", type=job_or_kind, help="Enqueue this instead if a job did not succeed."
)
@click.option("--name", help="Name of the batch, for people.")
@click.option("--parent", metavar="BATCH", type=batch_id, help="Count it as one job of this batch.")
@tenant_option
@connection_options
def open_(
    on_complete: Callback | None, on_failure: Callback | None, name: str | None, parent: GivenId | None
) -> None:
    """Open a batch and print its id, for `enqueue --batch`. It ends after `close`."""
    with open_database() as database:
        parent = full_batch_id(database, parent) if parent else None
        opened = open_batch(
            database, on_complete=on_complete, on_failure=on_failure, name=name, parent=parent
        )
        click.echo(str(opened))


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
        return _report("cancelled", changes, form)


@click.command(short_help="Retry the unsuccessful jobs of a batch and its nested ones.")
@click.argument("batch", type=batch_id)
@output_option("table", "json", "ids")
@tenant_option
@connection_options
def retry(batch: GivenId, form: str) -> int:
    """Retry the dead, expired and cancelled jobs of a batch and of those nested in it."""
    with open_database() as database:
        batch = full_batch_id(database, batch)
        return _report("retried", batches.retry_batch(database, batch, actor=actor()), form)


def _report(done: str, changes: Iterable[Change], form: str) -> int:
    report = Report(Action(done, (), lambda *_: []), form)
    for change in changes:
        report.put(change)
    return report.conclude()
