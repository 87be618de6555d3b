"""`minutehand pipeline erase`: null what is private of somebody in the lake."""

from uuid import UUID

import click

from minutehand.cli.actor import actor
from minutehand.cli.options import connection_options, output_option
from minutehand.cli.output import put_json, put_table, say
from minutehand_pipeline.cli.archive import place_database


@click.command()
@click.argument("lake")
@click.option("--job", type=click.UUID, help="This job's.")
@click.option("--key", help="Of every job with this key.")
@click.option("--queue", help="Only in this queue; with --key.")
@click.option("--tenant", "of_tenant", metavar="NAME", help="This tenant's, all of it.")
@click.option("--dry-run", is_flag=True, help="Count, and erase nothing.")
@output_option("table", "json")
@connection_options
def erase(
    lake: str, job: UUID | None, key: str | None, queue: str | None, of_tenant: str | None, dry_run: bool,
    form: str,
) -> None:  # fmt: skip
    """Erase a subject's data from LAKE: payloads, headers, keys, results, errors, and the facts of events.

    The rows stay, with what says how the queue did. The files that had the data are deleted at once, and no later
    archive brings it back. What is still in the database is counted, not changed. Needs no Spark.

    \b
    Examples:
      minutehand pipeline erase s3://bucket/lake --key customer-17 --queue mail --dry-run
      minutehand pipeline erase s3://bucket/lake --tenant acme
    """
    from minutehand_pipeline.archive.erase import EraseConfig, run
    from minutehand_pipeline.lake import Lake

    place_database()
    result = run(
        EraseConfig(
            lake=Lake(lake), job=job, key=key, queue=queue, tenant=of_tenant, dry_run=dry_run, who=actor()
        )
    )
    if form == "json":
        put_json({**vars(result), "dry_run": dry_run})
        return
    put_table(
        ["home", "would be erased" if dry_run else "erased", "left in the database"],
        [[name, str(rows), str(result.left[left])]
         for (name, rows), left in zip(result.erased.items(), result.left, strict=True)],
    )  # fmt: skip
    if dry_run:
        say("Nothing was erased: this was a dry run.")
    else:
        say(f"{result.vacuumed} files that had it, or that no commit had, are deleted.")
    if any(result.left.values()):
        say(
            "What is left in the database is cleared by `minutehand delete --finished-until`, or dropped with its day."
        )
