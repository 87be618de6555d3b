"""`minutehand pipeline load`: enqueue jobs from files, each load once."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import click

from minutehand.cli.options import connection_options, output_option, tz_option
from minutehand.cli.output import print_message, put_json
from minutehand.cli.progress import progress
from minutehand.cli.values import duration, option_time, zone
from minutehand_pipeline.cli.database import export_database_url
from minutehand_pipeline.cli.outputs import output_file

if TYPE_CHECKING:
    from minutehand_pipeline.load.load import LoadConfig, LoadResult

RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)/(s|m|h|d)")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
POLL = 1.0  # seconds

Decorated = Callable[..., Any]
OPTIONS = (
    click.option(
        "--format",
        type=click.Choice(["parquet", "csv", "ndjson"]),
        help="File format; by default from the suffix.",
    ),
    click.option(
        "--load",
        "name",
        metavar="ID",
        help="Name of the load; by default from the files' names, sizes and times.",
    ),
    click.option(
        "--on-conflict",
        type=click.Choice(["replace", "ignore", "raise"]),
        default="replace",
        show_default=True,
        help="What to do if a key has an upcoming job.",
    ),
    click.option("--rate", metavar="N/UNIT", help="Spread the jobs at a rate such as 500/s or 1000/m."),
    click.option("--over", type=duration, help="Spread the jobs over a time such as 6h."),
    click.option(
        "--start", metavar="TIME", help="When the first job is due, in ISO 8601 with an offset or with --tz."
    ),
    tz_option,
    click.option(
        "--rejects",
        default="rejects.ndjson",
        show_default=True,
        help="Where to write rejected rows and reasons: a file or an s3:// address.",
    ),
    click.option("--max-rejects", type=click.IntRange(0), help="Enqueue nothing if more rows are rejected."),
    click.option("--kind", help="Kind of rows that have none."),
    click.option("--queue", help="Queue of rows that have none."),
    click.option("--dry-run", is_flag=True, help="Read and check all rows; enqueue nothing."),
)


def _load_options(command: Decorated) -> Decorated:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@_load_options
@output_option("table", "json")
@connection_options
def load(
    paths: tuple[str, ...], name: str | None, tz: str | None, rejects: str, form: str, **options: Any
) -> int:
    """Enqueue jobs from Parquet, CSV or NDJSON: files, folders or patterns, local or at s3://.

    The columns and fields are those of `enqueue --file`: kind, payload, queue, key, run_at, delay, priority,
    max_attempts, retry, timeout, headers, personal, tenant. Rejected rows are written to --rejects with the reason,
    and the exit code is 1; the other rows are enqueued in one transaction. Running the same load again has no effect.

    \b
    Examples:
      minutehand pipeline load campaign.parquet --rate 500/s
      minutehand pipeline load jobs/ --over 6h --start 2026-03-01T08:00Z
      minutehand pipeline load jobs.csv --kind welcome --dry-run
    """
    from minutehand_pipeline.load.load import LoadConfig

    zone(tz)
    rate, start = _rate(options.pop("rate")), options.pop("start")
    moment = None if start is None else option_time(start, tz, "--start")
    config = LoadConfig(paths=paths, load=name, rate=rate, start=moment, zone=tz, **options)
    with output_file(rejects) as (file, upload):
        result = _run(replace(config, rejects=file, on_rejects=upload))
    _put(result, config, rejects, form)
    return 1 if result.rejected else 0


def _run(config: "LoadConfig") -> "LoadResult":
    from minutehand import wake
    from minutehand.cli.sleeping import warn_of_sleep
    from minutehand.database import Database
    from minutehand.schema.migrate import check_schema
    from minutehand.settings import database_url
    from minutehand_pipeline.load.load import check_config, find_files
    from minutehand_pipeline.load.load import load as load_files
    from minutehand_pipeline.session import build_session

    export_database_url()
    check_config(config)
    with closing(Database(database_url)) as database:
        check_schema(database)
    files = find_files(config)
    with _progress() as on_start:
        result = load_files(build_session("minutehand load"), config, on_start, files)
    if result.fresh and not config.dry_run:
        with closing(Database(database_url)) as database:
            wake(connection=database)
            warn_of_sleep(database)
    return result


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Show how many megabytes are staged, if standard error is a terminal."""
    from minutehand_pipeline.load.loads import staged_bytes

    finished = Event()
    with progress("megabytes staged", None) as advance:

        def follow(run: str) -> None:
            seen = 0
            while not finished.wait(POLL):
                now = staged_bytes(run) >> 20
                advance(max(0, now - seen))
                seen = max(now, seen)

        def on_start(run: str) -> None:
            if os.isatty(2):
                Thread(target=follow, args=(run,), daemon=True).start()

        try:
            yield on_start
        finally:
            finished.set()


def _rate(text: str | None) -> float | None:
    """Return jobs per second."""
    if text is None:
        return None
    if not (found := RATE.fullmatch(text)) or float(found[1]) == 0:
        raise click.BadParameter(
            f"expected a rate such as 500/s, 1000/m or 50000/h, got {text!r}", param_hint="--rate"
        )
    return float(found[1]) / SECONDS[found[2]]


def _put(result: "LoadResult", config: "LoadConfig", rejects: str, form: str) -> None:
    if form == "json":
        put_json(asdict(result) | {"dry_run": config.dry_run})
        return
    counts = ", ".join(
        f"{getattr(result, name):,} {name}" for name in ("created", "replaced", "ignored", "rejected")
    )
    if config.dry_run:
        print_message(f"load {result.load}: {counts} (dry run: nothing was enqueued)")
    elif result.fresh:
        print_message(f"load {result.load}: {counts}")
    else:
        print_message(f"load {result.load} was already entered at {result.at:%Y-%m-%d %H:%M:%S%z}: {counts}")
    if result.removed:
        print_message(f"staging tables of killed loads that were removed: {result.removed}")
    if result.rejected and result.fresh:
        print_message(f"rejected rows: {rejects}")
