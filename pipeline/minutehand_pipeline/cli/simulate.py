"""`minutehand pipeline simulate`: estimate the effect of another policy on recorded or synthetic jobs."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from minutehand.cli.options import output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.progress import progress
from minutehand_pipeline.cli.days import DAY, to_date
from minutehand_pipeline.cli.outputs import output_folder

if TYPE_CHECKING:
    from minutehand_pipeline.simulate.policy import Policy
    from minutehand_pipeline.simulate.result import PolicyResult
    from minutehand_pipeline.simulate.simulate import SimulationConfig, SimulationResult

HEADERS = (
    "policy",
    "late p50",
    "p90",
    "p99",
    "max",
    "dead",
    "attempts",
    "invocations",
    "ticks",
    "awake",
    "$",
    "$ database",
    "best",
)

Decorated = Callable[..., Any]
OPTIONS = (
    click.option("--synthetic", metavar="SPEC", help="Simulate synthetic arrivals instead of a lake."),
    click.option("--since", type=DAY, metavar="DAY", help="First UTC day."),
    click.option("--until", type=DAY, metavar="DAY", help="Last UTC day."),
    click.option(
        "--policy",
        "files",
        type=click.Path(path_type=Path),
        multiple=True,
        help="JSON file with a policy or a list of policies; repeatable.",
    ),
    click.option("--capacity", type=int, help="Maximum jobs that are offered or running."),
    click.option("--chunk", type=int, help="Jobs per invocation."),
    click.option("--concurrency", type=int, help="Maximum concurrent invocations of the worker."),
    click.option("--max-attempts", type=int, help="Maximum attempts of every job."),
    click.option(
        "--retry",
        metavar="STRATEGY",
        help="Retry strategy of every job, such as exponential:10:3600:3 or fixed:30.",
    ),
    click.option(
        "--grid", "axes", metavar="NAME=V,V", multiple=True, help="Try each of these values; repeatable."
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random numbers."),
    click.option("--exact", is_flag=True, help="Simulate all days in one piece instead of day by day."),
    click.option(
        "--rank",
        type=click.Choice(["late", "dollars", "dead"]),
        default="late",
        show_default=True,
        help="Order of the policies.",
    ),
    click.option("--out", help="Folder or s3:// address for the results as JSON and Parquet."),
    click.option("--dry-run", is_flag=True, help="Show how many jobs would be simulated."),
)


def _simulate_options(command: Decorated) -> Decorated:
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@click.command
@click.argument("lake", required=False)
@_simulate_options
@output_option("table", "json")
def simulate(
    lake: str | None, synthetic: str | None, out: str | None, dry_run: bool, form: str, **options: Any
) -> None:
    """Estimate how the jobs of a lake would have run under another policy.

    LAKE is the folder or address that `archive` writes to. The first row shows the recorded history. The policies
    follow, best first; a star marks those that no other policy beats on every measure.

    \b
    Examples:
      minutehand pipeline simulate lake --max-attempts 3
      minutehand pipeline simulate s3://bucket/lake --grid capacity=10,50
      minutehand pipeline simulate --synthetic rate=60,days=7,burst=09:00+500
    """
    config = _config(lake, synthetic, options)
    from minutehand_pipeline.session import build_session
    from minutehand_pipeline.simulate.simulate import CONTENT, MARK
    from minutehand_pipeline.simulate.simulate import simulate as simulate_policies

    if config.lake is not None:
        # Before Spark starts.
        config.lake.check_exists()
    with output_folder(out, MARK, CONTENT) as folder, progress("simulating", None):
        spark = build_session("minutehand simulate")
        result = simulate_policies(spark, replace(config, out=folder), dry_run=dry_run)
    _put_notes(result, out)
    (_put_json if form == "json" else _put)(result, dry_run)


def _config(lake: str | None, synthetic: str | None, options: dict[str, Any]) -> "SimulationConfig":
    from minutehand_pipeline.lake import Lake
    from minutehand_pipeline.simulate.simulate import SimulationConfig
    from minutehand_pipeline.simulate.synthetic import parse_synthetic

    return SimulationConfig(
        lake=Lake(lake) if lake else None,
        synthetic=parse_synthetic(synthetic) if synthetic is not None else None,
        since=to_date(options["since"]),
        until=to_date(options["until"]),
        policies=tuple(_policies(options)),
        seed=options["seed"],
        exact=options["exact"],
        rank=options["rank"],
    )


def _policies(options: dict[str, Any]) -> "list[Policy]":
    """Return the policies of the files, or the default policy, with the options applied and the grid expanded."""
    from minutehand_pipeline.simulate.grid import expand_grid, parse_retry, read_policies
    from minutehand_pipeline.simulate.policy import Policy

    names = ("capacity", "chunk", "concurrency", "max_attempts")
    changes = {name: options[name] for name in names if options[name] is not None}
    if options["retry"] is not None:
        changes["retry"] = parse_retry(options["retry"])
    bases = [policy for file in options["files"] for policy in read_policies(file)] or [Policy()]
    return expand_grid([replace(base, **changes) for base in bases], options["axes"])


def _put_notes(result: "SimulationResult", out: str | None) -> None:
    if not result.jobs:
        print_message("nothing to simulate: the lake has no finished job with an attempt on these days")
    if result.skipped:
        print_message(f"{result.skipped} jobs were skipped: the lake has none of their attempts")
    if out is not None and result.simulated:
        print_message(f"written to {out}")


def _put_json(result: "SimulationResult", dry_run: bool) -> None:
    if dry_run:
        put_json({"jobs": result.jobs, "skipped": result.skipped, "recorded": result.recorded})
        return
    for each in filter(None, (result.recorded, *result.simulated)):
        put_json(asdict(each))


def _put(result: "SimulationResult", dry_run: bool) -> None:
    if dry_run:
        print_message(f"{result.jobs} jobs would be simulated")
    rows = [_row(each) for each in filter(None, (result.recorded, *result.simulated))]
    if rows:
        put_table(HEADERS, rows)


def _row(each: "PolicyResult") -> list[str]:
    late = [_seconds(each.late[share]) for share in ("p50", "p90", "p99")]
    counts = (each.dead, each.attempts, each.invocations, each.ticks)
    return [
        each.policy,
        *late,
        _seconds(each.late_max),
        *("" if count is None else f"{count:,.0f}" for count in counts),
        "" if each.awake_seconds is None else f"{each.awake_seconds / 3600:,.1f} h",
        _dollars(each.dollars),
        _dollars(each.database_dollars),
        "*" if each.pareto else "",
    ]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f} s"


def _dollars(value: float | None) -> str:
    return "" if value is None else f"{value:,.4f}"
