"""`minutehand pipeline archive`: carry finished days to the lake, and drop them if that is asked for."""

import os
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import click

from minutehand.cli.options import connection_options, given_url, local_run_url, output_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.progress import progress
from minutehand.cli.values import duration

if TYPE_CHECKING:
    from minutehand_pipeline.archive.run import ArchiveConfig, ArchiveResult, Carried

HOMES = ("jobs_done", "attempts", "events")  # minutehand_pipeline.schemas knows Spark, and --help does not
DAY = click.DateTime(["%Y-%m-%d"])
DROPPED = {"dropped": "dropped", "busy": "kept: in use, try again", "held": "kept: it has rows that the lake lacks",
           "large": "kept: too much else is in the default partition"}  # fmt: skip


@click.command()
@click.argument("lake")
@click.option("--home", "homes", type=click.Choice(HOMES), multiple=True, help="Only this; repeatable.")
@click.option("--day", type=DAY, help="Only this UTC day, as 2026-03-31.")
@click.option("--since", type=DAY, help="From this UTC day on.")
@click.option("--until", type=DAY, help="To this UTC day, included.")
@click.option("--drop", is_flag=True, help="Drop a day from the database once the lake has every row of it.")
@click.option(
    "--wait", type=duration, default="1m", show_default=True,
    help="How long to wait for transactions that may still commit rows of a day.",
)  # fmt: skip
@click.option("--vacuum", is_flag=True, help="Delete files of the lake that no commit has, after a week.")
@click.option("--dry-run", is_flag=True, help="Say what would be carried, and carry nothing.")
@output_option("table", "json")
@connection_options
def archive(
    lake: str, homes: tuple[str, ...], day: datetime | None, since: datetime | None, until: datetime | None,
    drop: bool, wait: timedelta, vacuum: bool, dry_run: bool, form: str,
) -> None:  # fmt: skip
    """Carry finished days from the database to LAKE, a folder or an s3://, gs:// or abfss:// address.

    Without days it is every day that is over and not in the lake, the oldest first. Each goes there whole: it is read
    on one snapshot, written, read back and compared, and becomes part of the lake in one commit. What was killed goes
    on where it was. Nothing is dropped without --drop.

    \b
    Examples:
      minutehand pipeline archive lake --dry-run
      minutehand pipeline archive s3://bucket/lake --wait 10m
      minutehand pipeline archive s3://bucket/lake --until 2026-03-31 --drop
    """
    from minutehand_pipeline.archive.run import ArchiveConfig
    from minutehand_pipeline.lake import Lake

    if day is not None and (since is not None or until is not None):
        raise click.UsageError("say --day, or --since and --until")
    place_database()
    config = ArchiveConfig(
        lake=Lake(lake), homes=homes or HOMES, since=_date(day or since), until=_date(day or until), wait=wait,
        drop=drop, vacuum=vacuum, dry_run=dry_run,
    )  # fmt: skip
    _put(_run(config), form, dry_run)


def place_database() -> None:
    """Have Spark's tasks, which are processes of their own, find the database that an option or a local run named."""
    if url := given_url() or local_run_url():
        os.environ["DATABASE_URL"] = url


def _run(config: "ArchiveConfig") -> "ArchiveResult":
    from minutehand_pipeline.archive.run import run
    from minutehand_pipeline.session import build_session

    spark = None if config.dry_run else build_session("minutehand archive")
    with progress("days", None) as advance:

        def told(_: "Carried") -> None:
            advance(1)

        return run(spark, config, told=told)


def _put(result: "ArchiveResult", form: str, dry_run: bool) -> None:
    if form == "json":
        for each in result.days:
            put_json(each)
    elif result.days:
        put_table(
            ["home", "day", "outcome", "rows", "batch", "partition"], [_row(each) for each in result.days]
        )
    else:
        say("No day is over that has anything to carry.")
    for each in result.days:
        if each.why:
            say(f"{each.home} of {each.day} is open: {each.why}.")
    if result.vacuumed:
        say(f"{result.vacuumed} files that no commit had are deleted.")
    if dry_run:
        say("Nothing was carried: this was a dry run.")


def _row(each: "Carried") -> list[str]:
    return [
        each.home, each.day.isoformat(), each.outcome, f"{each.rows:,}", str(each.number or ""),
        DROPPED.get(each.dropped or "", ""),
    ]  # fmt: skip


def _date(said: datetime | None) -> date | None:
    return None if said is None else said.date()
