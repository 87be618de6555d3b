"""`minutehand pipeline report`: tables and a page about the jobs in the lake."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from minutehand.cli.options import output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.progress import progress
from minutehand.cli.values import duration
from minutehand_pipeline.cli.days import DAY, to_date
from minutehand_pipeline.cli.outputs import is_address, output_folder

if TYPE_CHECKING:
    from minutehand_pipeline.report.config import ReportConfig, ReportResult

Decorated = Callable[..., Any]
OPTIONS = (
    click.option(
        "--out",
        default="report",
        show_default=True,
        help="Folder or s3:// address to write. Replaces an earlier report, but nothing else.",
    ),
    click.option(
        "--since",
        type=DAY,
        metavar="DAY",
        help="First UTC day; by default four weeks before --until, or the first day of a younger lake.",
    ),
    click.option("--until", type=DAY, metavar="DAY", help="Last UTC day; by default the lake's last."),
    click.option("--queue", help="Report on this queue only."),
    click.option(
        "--objective",
        type=duration,
        default="60s",
        show_default=True,
        help="Start a job within this time after it is due.",
    ),
    click.option(
        "--target",
        type=click.FloatRange(0, 100, min_open=True, max_open=True),
        default=99.0,
        show_default=True,
        help="Percentage of jobs that must meet the objective.",
    ),
    click.option(
        "--architecture",
        type=click.Choice(["arm64", "x86_64"]),
        default="arm64",
        show_default=True,
        help="Architecture of the functions.",
    ),
    click.option(
        "--prices",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="JSON file with your own prices.",
    ),
    click.option("--currency", default="$", show_default=True, help="Currency of the prices."),
    click.option(
        "--read-all", is_flag=True, help="Read all days, also those that an earlier report has summarized."
    ),
    click.option("--dry-run", is_flag=True, help="Show how many rows would be read; write nothing."),
    click.option("--open", "open_page", is_flag=True, help="Open the page when it is written."),
)


def _report_options(command: Decorated) -> Decorated:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command()
@click.argument("lake")
@_report_options
@output_option("table", "json")
def report(
    lake: str,
    objective: timedelta,
    target: float,
    out: str,
    dry_run: bool,
    open_page: bool,
    form: str,
    **options: Any,
) -> None:
    """Report on the jobs in LAKE, in tables and on one page.

    LAKE is where `minutehand pipeline archive` writes. The output folder has index.html, a page that needs no
    network; tables/, each table as Parquet and as JSON; schema.json, which describes them; and report.json, the
    summary.

    \b
    Examples:
      minutehand pipeline report lake --open
      minutehand pipeline report lake --since 2026-03-01 --objective 5m
      minutehand pipeline report lake --queue mail --out s3://bucket/mail -o json
    """
    from minutehand_pipeline.report.folder import CONTENT, MARK

    if open_page and is_address(out):
        raise click.UsageError("--open requires a local folder as --out")
    config = _config(lake, objective, target, options)
    if dry_run:
        _put_plan(config, form)
        return
    with output_folder(out, MARK, CONTENT) as folder:
        result = _run(replace(config, out=folder))
    page = f"{out.rstrip('/')}/index.html"
    _put(result, form)
    print_message(f"Page: {page}")
    if open_page:
        click.launch(page)


def _config(lake: str, objective: timedelta, target: float, options: dict[str, Any]) -> "ReportConfig":
    from minutehand_pipeline.prices import LIST
    from minutehand_pipeline.report.config import ReportConfig, read_prices

    since: datetime | None = options.pop("since")
    until: datetime | None = options.pop("until")
    prices: Path | None = options.pop("prices")
    return ReportConfig(
        lake=lake,
        since=to_date(since),
        until=to_date(until),
        objective=objective.total_seconds(),
        target=target / 100,
        prices=read_prices(prices) if prices else LIST,
        **options,
    )


def _run(config: "ReportConfig") -> "ReportResult":
    from minutehand_pipeline.report.folder import check_folder
    from minutehand_pipeline.report.reading import MEDIUM_ROWS, plan_days
    from minutehand_pipeline.report.report import make_report
    from minutehand_pipeline.report.window import choose_window
    from minutehand_pipeline.session import LARGE, build_session, settings_for

    # Check everything before Spark starts.
    window = choose_window(config)
    if config.out is not None:
        check_folder(config.out)
    plan = plan_days(config, window)
    settings = settings_for(sum(plan.total.values()), MEDIUM_ROWS, LARGE)
    with progress("days", len(plan.rows)) as advance:
        return make_report(lambda: build_session("minutehand report", settings=settings), config, advance)


def _put_plan(config: "ReportConfig", form: str) -> None:
    from minutehand_pipeline.report.reading import plan_days
    from minutehand_pipeline.report.window import choose_window

    window = choose_window(config)
    plan = plan_days(config, window)
    rows = {"days": len(plan.rows), **plan.total}
    if form == "json":
        put_json({"since": window.since.isoformat(), "until": window.until.isoformat(), **rows})
    else:
        put_table(["to read", "number"], [[name, f"{count:,}"] for name, count in rows.items()])
    print_message(
        f"The report would cover {window.since} to {window.until}. This was a dry run: nothing was written."
    )


def _put(result: "ReportResult", form: str) -> None:
    if form == "json":
        put_json(dict(result.summary))
    else:
        put_table(["", ""], _lines(result))


def _lines(result: "ReportResult") -> list[list[str]]:
    summary = result.summary
    lines = [
        ("result", [result.headline]),
        ("days", [f"{summary['since']} to {summary['until']}, UTC"]),
        ("read", [result.reading]),
        ("note", summary["notes"]),
        ("advice", summary["advice"] or [summary["no_advice"]]),
    ]
    return [[name, sentence] for name, sentences in lines for sentence in sentences]
