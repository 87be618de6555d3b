"""`minutehand pipeline load`: files of jobs into the queue, each load once."""

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from minutehand.cli.options import connection_options, given_url, local_run_url, output_option, tz_option
from minutehand.cli.output import put_json, say
from minutehand.cli.progress import progress
from minutehand.cli.values import duration, option_moment, zone
from minutehand_pipeline.cli.results import file_at

if TYPE_CHECKING:
    from minutehand_pipeline.load.run import Config, Result

A_RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)/(s|m|h|d)")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
LOOK = 1.0  # seconds between two looks at how much is staged


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--format",
    type=click.Choice(["parquet", "csv", "ndjson"]),
    help="The files' format, if their endings do not tell.",
)
@click.option(
    "--load", "name", metavar="ID", help="The load's name; else of the files' names, sizes and times."
)
@click.option(
    "--on-conflict", type=click.Choice(["replace", "ignore", "raise"]), default="replace", show_default=True,
    help="What happens when a key has an upcoming job.",
)  # fmt: skip
@click.option("--rate", metavar="N/UNIT", help="So many at a time, as 500/s or 1000/m.")
@click.option("--over", type=duration, help="Spread over that long, as 6h.")
@click.option(
    "--start", metavar="MOMENT", help="From then on, in ISO 8601 with an offset or with --tz; else from now."
)
@tz_option
@click.option(
    "--rejects", default="rejects.ndjson", show_default=True,
    help="Where to write the rows that are no jobs, and why: a file, or its s3:// address.",
)  # fmt: skip
@click.option("--max-rejects", type=click.IntRange(0), help="With more than that nothing is enqueued.")
@click.option("--kind", help="The kind of rows that say none.")
@click.option("--queue", help="The queue of rows that say none.")
@click.option("--dry-run", is_flag=True, help="Read and check all of it, and enqueue nothing.")
@output_option("table", "json")
@connection_options
def load(
    paths: tuple[str, ...], name: str | None, tz: str | None, rejects: str, form: str, **said: Any
) -> int:
    """Enqueue files of the lake: Parquet, CSV or NDJSON; a file, a folder or a pattern, here or at s3://.

    Columns and fields are those of `enqueue --file`: kind, payload, queue, key, run_at, delay, priority,
    max_attempts, retry, timeout, headers, personal, tenant. What is no job is written to --rejects with the
    reason, and the exit code is 1; the rest goes in, all in one transaction. The same load again does nothing.

    \b
    Examples:
      minutehand pipeline load campaign.parquet --rate 500/s
      minutehand pipeline load s3://bucket/jobs/ --over 6h --start 2026-03-01T08:00 --tz Europe/Berlin
      minutehand pipeline load jobs.csv --kind welcome --on-conflict ignore --dry-run
    """
    from minutehand_pipeline.load.run import Config

    zone(tz)
    start = None if said["start"] is None else option_moment(said["start"], tz, "--start")
    config = Config(
        paths=paths, format=said["format"], load=name, on_conflict=said["on_conflict"], rate=_rate(said["rate"]),
        over=said["over"], start=start, zone=tz, most_rejects=said["max_rejects"],
        kind=said["kind"], queue=said["queue"], dry_run=said["dry_run"],
    )  # fmt: skip
    with file_at(rejects) as file:
        result = _run(replace(config, rejects=file))
    _tell(result, config, rejects, form)
    return 1 if result.rejected else 0


def _run(config: "Config") -> "Result":
    from minutehand.database import Database
    from minutehand.schema.migrate import check_schema
    from minutehand.settings import database_url
    from minutehand_pipeline.load.run import check_config, find, run
    from minutehand_pipeline.session import build_session

    if url := given_url() or local_run_url():
        os.environ["DATABASE_URL"] = (
            url  # for the tasks, which are processes of their own, and not for the plan
        )
    check_config(config)
    with closing(Database(database_url)) as database:
        check_schema(database)
    files = find(config)
    with _watching() as watch:
        return run(build_session("minutehand load"), config, watch, files)


@contextmanager
def _watching() -> Iterator[Any]:
    """Show how many megabytes are staged, where somebody looks."""
    from minutehand_pipeline.load.ledger import staged_bytes

    over = Event()
    with progress("megabytes staged", None) as advance:

        def follow(run: str) -> None:
            seen = 0
            while not over.wait(LOOK):
                now = staged_bytes(run) >> 20
                advance(max(0, now - seen))
                seen = max(now, seen)

        def watch(run: str) -> None:
            if os.isatty(2):
                Thread(target=follow, args=(run,), daemon=True).start()

        try:
            yield watch
        finally:
            over.set()


def _rate(said: str | None) -> float | None:
    """Return the jobs a second."""
    if said is None:
        return None
    if not (found := A_RATE.fullmatch(said)) or float(found[1]) == 0:
        raise click.BadParameter(f"{said!r}: write it as 500/s, 1000/m or 50000/h", param_hint="--rate")
    return float(found[1]) / SECONDS[found[2]]


def _tell(result: "Result", config: "Config", rejects: str, form: str) -> None:
    if form == "json":
        put_json(asdict(result) | {"dry_run": config.dry_run})
        return
    counts = ", ".join(
        f"{getattr(result, name):,} {name}" for name in ("created", "replaced", "ignored", "rejected")
    )
    if config.dry_run:
        say(f"load {result.load}: {counts}; a dry run, nothing was enqueued")
    elif result.fresh:
        say(f"load {result.load}: {counts}")
    else:
        say(
            f"load {result.load} was done at {result.at:%Y-%m-%d %H:%M:%S%z}, and is not done again: {counts}"
        )
    if result.rejected and result.fresh:
        say(f"the rejected rows are in {rejects}")
