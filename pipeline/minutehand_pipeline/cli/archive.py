"""`minutehand pipeline archive`: copy finished days to the lake, and optionally drop them from the database."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import click

from minutehand.cli.exits import INCOMPLETE
from minutehand.cli.options import connection_options, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.progress import progress
from minutehand.cli.values import duration
from minutehand_pipeline.cli.database import export_database_url
from minutehand_pipeline.cli.days import DAY, to_date

if TYPE_CHECKING:
    from minutehand_pipeline.archive.archive import ArchiveConfig, ArchiveResult
    from minutehand_pipeline.archive.decision import DayResult

# The same as minutehand_pipeline.schemas.HOMES, which would import Spark.
HOMES = ("jobs_done", "attempts", "events")
DROPPED = {
    "dropped": "dropped",
    "busy": "kept: in use, try again",
    "held": "kept: has rows that the lake lacks",
    "large": "kept: the default partition has too many other rows",
}


@click.command()
@click.argument("lake")
@click.option(
    "--table", "homes", type=click.Choice(HOMES), multiple=True, help="Archive only this table; repeatable."
)
@click.option("--day", type=DAY, metavar="DAY", help="Archive only this UTC day, such as 2026-03-31.")
@click.option("--since", type=DAY, metavar="DAY", help="First UTC day.")
@click.option("--until", type=DAY, metavar="DAY", help="Last UTC day.")
@click.option("--drop", is_flag=True, help="Drop a day from the database once the lake has all its rows.")
@click.option(
    "--wait",
    type=duration,
    default="1m",
    show_default=True,
    help="How long to wait for transactions that may still commit rows of a day.",
)
@click.option(
    "--readers",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Read with N sessions at the same time; by default with as many as do not slow down the queue.",
)
@click.option(
    "--vacuum", is_flag=True, help="Delete unreferenced files of the lake that are older than a week."
)
@click.option("--dry-run", is_flag=True, help="Show what would be archived; archive nothing.")
@output_option("table", "json")
@connection_options
def archive(
    lake: str,
    homes: tuple[str, ...],
    day: datetime | None,
    since: datetime | None,
    until: datetime | None,
    drop: bool,
    wait: timedelta,
    readers: int | None,
    vacuum: bool,
    dry_run: bool,
    form: str,
) -> int:
    """Copy finished days from the database to LAKE, a folder or an s3://, gs:// or abfss:// address.

    By default, every day that is over and not yet in the lake is archived, oldest first. Each day is read on one
    snapshot, written, read back and compared, and then committed as a whole. A run that was killed continues where it
    stopped. Nothing is dropped without --drop. If a day stays open, or is kept although --drop was passed, the exit
    code is 7: run the command again later.

    \b
    Examples:
      minutehand pipeline archive lake --dry-run
      minutehand pipeline archive s3://bucket/lake --wait 10m
      minutehand pipeline archive s3://bucket/lake --until 2026-03-31 --drop
    """
    from minutehand_pipeline.archive.archive import ArchiveConfig
    from minutehand_pipeline.lake import Lake

    if day is not None and (since is not None or until is not None):
        raise click.UsageError("expected --day, or --since and --until, got both")
    export_database_url()
    config = ArchiveConfig(
        lake=Lake(lake),
        homes=homes or HOMES,
        since=to_date(day or since),
        until=to_date(day or until),
        wait=wait,
        readers=readers,
        drop=drop,
        vacuum=vacuum,
        dry_run=dry_run,
    )
    result = _run(config)
    _put(result, form, dry_run)
    return INCOMPLETE if not dry_run and any(map(_is_incomplete, result.days)) else 0


def _is_incomplete(each: "DayResult") -> bool:
    return each.outcome == "open" or each.dropped in ("held", "busy", "large")


def _run(config: "ArchiveConfig") -> "ArchiveResult":
    from minutehand_pipeline.archive.amount import estimate_rows
    from minutehand_pipeline.archive.archive import archive as archive_days
    from minutehand_pipeline.session import build_session, settings_for

    spark = None
    if not config.dry_run:
        settings = settings_for(estimate_rows(config))
        spark = build_session("minutehand archive", settings=settings, in_background=True)
    with progress("days", None) as advance:
        return archive_days(spark, config, on_day=lambda _: advance(1))


def _put(result: "ArchiveResult", form: str, dry_run: bool) -> None:
    if form == "json":
        for each in result.days:
            put_json(each)
    elif result.days:
        put_table(
            ["table", "day", "outcome", "rows", "batch", "partition"], [_row(each) for each in result.days]
        )
    else:
        print_message("No finished day has rows to archive.")
    for each in result.days:
        if each.reason:
            print_message(f"{each.home} of {each.day} is open: {each.reason}.")
    if result.vacuumed:
        print_message(f"Deleted {result.vacuumed} unreferenced files.")
    if dry_run:
        print_message("This was a dry run: nothing was archived.")


def _row(each: "DayResult") -> list[str]:
    batch, dropped = str(each.number or ""), DROPPED.get(each.dropped or "", "")
    return [each.home, each.day.isoformat(), each.outcome, f"{each.rows:,}", batch, dropped]
