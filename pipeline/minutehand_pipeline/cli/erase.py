"""`minutehand pipeline erase`: erase a subject's private data from the lake."""

from typing import TYPE_CHECKING
from uuid import UUID

import click

from minutehand.cli.actor import actor
from minutehand.cli.exits import INCOMPLETE
from minutehand.cli.options import connection_options, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand_pipeline.cli.database import export_database_url

if TYPE_CHECKING:
    from minutehand_pipeline.archive.erase import EraseResult


@click.command()
@click.argument("lake")
@click.option("--job", type=click.UUID, help="Erase this job.")
@click.option("--key", help="Erase every job with this key.")
@click.option("--queue", help="Erase only in this queue; requires --key.")
@click.option("--tenant", "of_tenant", metavar="NAME", help="Erase everything of this tenant.")
@click.option("--dry-run", is_flag=True, help="Count rows; erase nothing.")
@output_option("table", "json")
@connection_options
def erase(
    lake: str,
    job: UUID | None,
    key: str | None,
    queue: str | None,
    of_tenant: str | None,
    dry_run: bool,
    form: str,
) -> int:
    """Erase a subject's payloads, headers, keys, results, errors and event facts from LAKE.

    The rows remain, with the columns that are not private, and no later archive brings the data back. The old files are
    deleted at once, unless a report is reading the lake: then the exit code is 7, and the command must be repeated.
    Rows in the database are counted, not changed. Spark is not needed.

    \b
    Examples:
      minutehand pipeline erase s3://bucket/lake --key customer-17 --dry-run
      minutehand pipeline erase s3://bucket/lake --tenant acme
    """
    from minutehand_pipeline.archive.erase import EraseConfig
    from minutehand_pipeline.archive.erase import erase as erase_subject
    from minutehand_pipeline.lake import Lake

    export_database_url()
    result = erase_subject(
        EraseConfig(
            lake=Lake(lake), job=job, key=key, queue=queue, tenant=of_tenant, dry_run=dry_run, actor=actor()
        )
    )
    _put(result, form, dry_run)
    return INCOMPLETE if result.readers else 0


def _put(result: "EraseResult", form: str, dry_run: bool) -> None:
    if form == "json":
        put_json({**vars(result), "dry_run": dry_run})
        return
    pairs = zip(result.erased.items(), result.left.values(), strict=True)
    put_table(
        ["table", "would be erased" if dry_run else "erased", "left in the database"],
        [[name, str(rows), str(left)] for (name, rows), left in pairs],
    )
    if dry_run:
        print_message("This was a dry run: nothing was erased.")
    elif result.readers:
        print_message(
            f"{result.readers} running report(s) read the lake, so the old files remain. Repeat the command when they "
            "have ended; a report that was killed counts for six hours."
        )
    else:
        print_message(f"Deleted {result.vacuumed} files that had the data or were unreferenced.")
    if any(result.left.values()):
        print_message(
            "To clear the rows that are left in the database, run `minutehand delete --finished-until` "
            "or drop their days."
        )
