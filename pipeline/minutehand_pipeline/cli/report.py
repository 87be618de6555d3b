"""`minutehand pipeline report`: say from the lake how the queue did, and what it cost."""

from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from minutehand.cli.options import output_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.progress import progress
from minutehand.cli.values import duration
from minutehand_pipeline.cli.results import folder_at, is_address

if TYPE_CHECKING:
    from minutehand_pipeline.report.config import ReportConfig, ReportResult

DAY = click.DateTime(["%Y-%m-%d"])
TABLES = 11  # that Spark makes


@click.command()
@click.argument("lake")
@click.option(
    "--out", default="report", show_default=True,
    help="The folder to write, or its s3:// address; an earlier report is replaced, anything else left alone.",
)  # fmt: skip
@click.option("--since", type=DAY, help="From this UTC day on; four weeks unless said.")
@click.option("--until", type=DAY, help="To this UTC day, included; the lake's last unless said.")
@click.option("--queue", help="Only of this queue.")
@click.option(
    "--objective", type=duration, default="60s", show_default=True,
    help="Within which time from the moment it is due a job is to be begun.",
)  # fmt: skip
@click.option(
    "--target", type=click.FloatRange(0, 100, min_open=True, max_open=True), default=99.0, show_default=True,
    help="Of a hundred jobs, how many have to be.",
)  # fmt: skip
@click.option(
    "--architecture", type=click.Choice(["arm64", "x86_64"]), default="arm64", show_default=True,
    help="Of the functions.",
)  # fmt: skip
@click.option(
    "--prices", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A JSON file with prices of your own.",
)  # fmt: skip
@click.option("--currency", default="$", show_default=True, help="What the prices are in.")
@click.option("--pauses", is_flag=True, help="The database may pause: its hours count in the advice.")
@click.option("--dry-run", is_flag=True, help="Say what would be read, and write nothing.")
@click.option("--open", "opened", is_flag=True, help="Open the page when it is there.")
@output_option("table", "json")
def report(
    lake: str, since: datetime | None, until: datetime | None, objective: timedelta, target: float,
    prices: Path | None, out: str, dry_run: bool, opened: bool, form: str, **said: Any,
) -> None:  # fmt: skip
    """Say from LAKE how the queue did and what it cost, in tables and on one page.

    LAKE is what `minutehand pipeline archive` writes to. The folder that is written has index.html, a page that needs
    no network; tables/, each as Parquet and as JSON; schema.json, which explains these; and report.json, the summary.

    \b
    Examples:
      minutehand pipeline report lake --open
      minutehand pipeline report s3://bucket/lake --since 2026-03-01 --objective 5m --target 99.9
      minutehand pipeline report lake --queue mail --out s3://bucket/mail -o json
    """
    from minutehand_pipeline.prices import LIST
    from minutehand_pipeline.report.config import ReportConfig, read_prices
    from minutehand_pipeline.report.write import MARK

    if opened and is_address(out):
        raise click.UsageError("--open is for a report on this machine; say a folder as --out")
    config = ReportConfig(
        lake=lake, since=_date(since), until=_date(until), objective=objective.total_seconds(),
        target=target / 100, prices=read_prices(prices) if prices else LIST, **said,
    )  # fmt: skip
    if dry_run:
        _put_plan(config, form)
        return
    with folder_at(out, MARK) as folder:
        result = _run(replace(config, out=folder))
    page = f"{out.rstrip('/')}/index.html"
    _put(result, form)
    say(f"The page is {page}.")
    if opened:
        click.launch(page)


def _run(config: "ReportConfig") -> "ReportResult":
    from minutehand_pipeline.report.run import run
    from minutehand_pipeline.report.window import window_of
    from minutehand_pipeline.report.write import check_folder
    from minutehand_pipeline.session import build_session

    window_of(config)  # before Spark is started for nothing
    if config.out is not None:
        check_folder(config.out)
    with progress("tables", TABLES) as advance:
        return run(build_session("minutehand report"), config, advance)


def _put_plan(config: "ReportConfig", form: str) -> None:
    from minutehand_pipeline.report.window import rows_of, window_of

    window = window_of(config)
    rows = rows_of(config, window)
    if form == "json":
        put_json({"since": window.since.isoformat(), "until": window.until.isoformat(), **rows})
    else:
        put_table(["read", "rows"], [[name, f"{count:,}"] for name, count in rows.items()])
    say(f"The report would be of {window.since} to {window.until}. Nothing was written: this was a dry run.")


def _put(result: "ReportResult", form: str) -> None:
    if form == "json":
        put_json(dict(result.summary))
    else:
        put_table(["what", "is"], _lines(result))


def _lines(result: "ReportResult") -> list[list[str]]:
    summary = result.summary
    advice = summary["advice"] or [summary["no_advice"]]
    lines = [("answer", [result.headline]), ("days", [f"{summary['since']} to {summary['until']}, UTC"]),
             ("note", summary["notes"]), ("advice", advice)]  # fmt: skip
    return [[name, sentence] for name, sentences in lines for sentence in sentences]


def _date(said: datetime | None) -> date | None:
    return None if said is None else said.date()
