"""Simulate: what another policy would have done with what was recorded, or with arrivals that are made up."""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from minutehand.cli.options import output_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.progress import progress
from minutehand_pipeline.cli.results import folder_at

if TYPE_CHECKING:
    from minutehand_pipeline.simulate.policy import Policy
    from minutehand_pipeline.simulate.result import Played
    from minutehand_pipeline.simulate.run import Config, Result

DAY = click.DateTime(["%Y-%m-%d"])
HEADERS = ("policy", "late p50", "p90", "p99", "max", "dead", "attempts", "invocations", "ticks", "awake", "$",
           "$ database", "best")  # fmt: skip

Decorated = Callable[..., Any]


def _policy_options(command: Decorated) -> Decorated:
    for option in (
        click.option("--retry", metavar="STRATEGY", help="Of every job, as exponential:10:3600:3 or fixed:30."),
        click.option("--max-attempts", type=int, help="Of every job."),
        click.option("--concurrency", type=int, help="Workers that Lambda runs at once."),
        click.option("--chunk", type=int, help="Jobs to an invocation."),
        click.option("--capacity", type=int, help="Jobs that may be offered or running at once."),
        click.option("--mode", help="minute, prompt or sleep."),
        click.option(
            "--policy", "files", type=click.Path(path_type=Path), multiple=True,
            help="A JSON file with a policy, or a list of them; repeatable.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command
@click.argument("lake", required=False)
@click.option("--synthetic", metavar="SPEC", help="Made-up arrivals instead of a lake's.")
@click.option("--since", type=DAY, help="The first UTC day.")
@click.option("--until", type=DAY, help="The last UTC day.")
@_policy_options
@click.option(
    "--grid", "axes", metavar="NAME=V,V", multiple=True, help="Try each of these values; repeatable."
)
@click.option("--seed", type=int, default=0, show_default=True, help="What chance is drawn from.")
@click.option("--exact", is_flag=True, help="All of the history in one piece, and not day by day.")
@click.option("--rank", type=click.Choice(["late", "dollars", "dead"]), default="late", show_default=True,
              help="What the best is best in.")  # fmt: skip
@click.option("--out", help="A folder for JSON and Parquet, or its s3:// address.")
@click.option("--dry-run", is_flag=True, help="Only say what would be played.")
@output_option("table", "json")
def simulate(
    lake: str | None, synthetic: str | None, out: str | None, dry_run: bool, form: str, **said: Any
) -> None:
    """Say what another policy would have done with the jobs of a lake.

    LAKE is the folder or the address that `archive` writes to. The first row is how it was. The others are policies,
    the best first; a star marks those that no other one beats in everything.

    \b
    Examples:
      minutehand pipeline simulate lake --max-attempts 3
      minutehand pipeline simulate s3://bucket/lake --since 2026-03-01 --grid chunk=1,5,10 --grid mode=minute,prompt
      minutehand pipeline simulate --synthetic rate=60,days=7,burst=09:00+500 --grid capacity=10,50 -o json
    """
    config = _config(lake, synthetic, said)
    from minutehand_pipeline.report.window import check_lake
    from minutehand_pipeline.session import build_session
    from minutehand_pipeline.simulate.run import MARK, run

    if config.lake is not None:
        check_lake(config.lake)  # before Spark is started for nothing
    with folder_at(out, MARK) as folder, progress("simulating", None):
        result = run(build_session("minutehand simulate"), replace(config, out=folder), dry=dry_run)
    _notes(result, out)
    (_put_json if form == "json" else _put)(result, dry_run)


def _config(lake: str | None, synthetic: str | None, said: dict[str, Any]) -> "Config":
    from minutehand_pipeline.lake import Lake
    from minutehand_pipeline.simulate.run import Config
    from minutehand_pipeline.simulate.synthetic import read_synthetic

    return Config(
        lake=Lake(lake) if lake else None,
        synthetic=read_synthetic(synthetic) if synthetic is not None else None,
        since=_day(said["since"]), until=_day(said["until"]), policies=tuple(_policies(said)), seed=said["seed"],
        exact=said["exact"], rank=said["rank"],
    )  # fmt: skip


def _policies(said: dict[str, Any]) -> "list[Policy]":
    """Return the policies of the files, or the default one, each with what the options say, spread over the grid."""
    from minutehand_pipeline.simulate.grid import grid, read_policies, read_retry
    from minutehand_pipeline.simulate.policy import Policy

    names = ("mode", "capacity", "chunk", "concurrency", "max_attempts")
    changes = {name: said[name] for name in names if said[name] is not None}
    if said["retry"] is not None:
        changes["retry"] = read_retry(said["retry"])
    bases = [policy for file in said["files"] for policy in read_policies(file)] or [Policy()]
    return grid([replace(base, **changes) for base in bases], said["axes"])


def _day(said: datetime | None) -> date | None:
    return said.date() if said else None


def _notes(result: "Result", out: str | None) -> None:
    if not result.jobs:
        say("nothing was played: no finished job with an attempt is in the lake for these days")
    if result.unplayed:
        say(f"{result.unplayed} jobs were left out: no attempt of theirs is in the lake")
    if out is not None and result.played:
        say(f"written to {out}")


def _put_json(result: "Result", dry: bool) -> None:
    if dry:
        put_json({"jobs": result.jobs, "unplayed": result.unplayed, "recorded": result.recorded})
        return
    for each in filter(None, (result.recorded, *result.played)):
        put_json(asdict(each))


def _put(result: "Result", dry: bool) -> None:
    if dry:
        say(f"{result.jobs} jobs would be played")
    rows = [_row(each) for each in filter(None, (result.recorded, *result.played))]
    if rows:
        put_table(HEADERS, rows)


def _row(each: "Played") -> list[str]:
    late = [_seconds(each.late[share]) for share in ("p50", "p90", "p99")]
    counts = (each.dead, each.attempts, each.invocations, each.ticks)
    return [
        each.policy, *late, _seconds(each.late_max), *("" if count is None else f"{count:,.0f}" for count in counts),
        "" if each.awake_seconds is None else f"{each.awake_seconds / 3600:,.1f} h",
        _dollars(each.dollars), _dollars(each.database_dollars), "*" if each.pareto else "",
    ]  # fmt: skip


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f} s"


def _dollars(value: float | None) -> str:
    return "" if value is None else f"{value:,.4f}"
