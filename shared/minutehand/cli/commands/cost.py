"""`minutehand cost`: what a month of work cost, by kind, and what it would have cost elsewhere."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.costs.dispatcher import Mode
from minutehand.costs.month import parse_month
from minutehand.costs.monthly_report import report_month
from minutehand.costs.prices import SHIPPED, Prices, read_prices
from minutehand.costs.report import MODES, Report


@click.command()
@click.option("--month", metavar="YYYY-MM", help="A month in UTC.  [the current one]")
@click.option(
    "--mode", type=click.Choice(MODES), default="minute", show_default=True, help="Mode of the installation."
)
@click.option(
    "--architecture",
    type=click.Choice(["arm64", "x86_64"]),
    default="arm64",
    show_default=True,
    help="Architecture of the functions.",
)
@click.option(
    "--prices",
    "file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A TOML file with prices; list only those that differ from --print-prices.",
)
@click.option("--print-prices", is_flag=True, help="Print the table of prices, and exit.")
@output_option("table", "json")
@connection_options
def cost(
    month: str | None, mode: Mode, architecture: str, file: Path | None, print_prices: bool, form: str
) -> None:
    """Report what a month of work cost on AWS, and what it would have cost elsewhere.

    The cost of workers is computed from the stored history of attempts, and that of the dispatcher from the usage that
    its invocations recorded. Cold starts of workers, other modes and other services are estimated from the figures in
    the table of prices.

    \b
    Examples:
      minutehand cost
      minutehand cost --month 2026-10 -o json
      minutehand cost --print-prices > prices.toml
      minutehand cost --prices prices.toml
    """
    if print_prices:
        click.echo(SHIPPED.read_text("utf-8").rstrip())
        return
    prices = read_prices(file)
    requested = parse_month(month) if month else None
    with open_database() as database:
        found = report_month(database, requested, prices, architecture, mode)
    if form == "json":
        put_json(_as_json(found, prices))
    else:
        _put(found, prices)


def _as_json(found: Report, prices: Prices) -> dict[str, Any]:
    summary = {"work": found.work, "total": found.total, "per_million": found.per_million}
    return {**asdict(found), **summary, "prices": {"dated": prices.dated, "region": prices.region}}


def _put(found: Report, prices: Prices) -> None:
    print_message(
        f"{found.month} until {found.until:%Y-%m-%d %H:%M} UTC, in dollars, "
        f"prices of {prices.dated} in {prices.region}, {found.architecture}."
    )
    if not found.kinds:
        print_message("No attempts on Lambda are stored for this month.")
    else:
        rows = [
            [each.kind, f"{each.memory_mb}", f"{each.attempts}", f"{each.invocations:.0f}", *_amounts(each)]
            for each in found.kinds
        ]
        put_table(["kind", "mb", "attempts", "invocations", "gb-s", "dollars"], rows)
        click.echo()
    estimate = "" if found.dispatcher.recorded else " (estimate)"
    million = "" if found.per_million is None else _dollars(found.per_million)
    put_table(
        ["", "dollars"],
        [
            ["workers", _dollars(found.work)],
            [f"dispatcher and schedule{estimate}", _dollars(found.dispatcher.dollars)],
            ["total", _dollars(found.total)],
            ["workers, per million jobs", million],
        ],
    )
    click.echo()
    _put_alternatives(found)


def _put_alternatives(found: Report) -> None:
    rows = [
        [
            each.name,
            _dollars(each.dollars),
            _dollars(each.idle),
            "" if each.database is None else _dollars(each.database),
        ]
        for each in found.alternatives
    ]
    put_table(["the same work (estimates)", "so far", "idle month", "its database"], rows)


def _amounts(each: Any) -> list[str]:
    return [f"{each.gb_seconds:.1f}", _dollars(each.dollars)]


def _dollars(amount: float) -> str:
    """Return an amount with cents, or with more digits if it is smaller than ten cents."""
    return (
        f"{amount:,.2f}"
        if amount >= 0.1 or not amount
        else f"{amount:.3g}"
        if amount >= 0.001
        else f"{amount:.6f}"
    )
