"""`minutehand stats`: every queue in a line, or what happened hour by hour."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import click

from minutehand.cli import text
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option, tz_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.window import moment_of
from minutehand.database import Database
from minutehand.queries import statistics as measure
from minutehand.queries.jobs import STATES, Depth, clock
from minutehand.queries.jobs import stats as read_stats
from minutehand.queries.statistics import Spread

DAY = timedelta(days=1)


@click.command()
@click.option(
    "--by", type=click.Choice(["queue", "kind"]), default="queue", show_default=True, help="A line for each."
)
@click.option("--queue", help="Only of this queue.")
@click.option("--kind", help="Only of this kind.")
@click.option(
    "--since", metavar="WHEN", help="Finished since then: how long ago, as 7d, or a moment; 24h unless said."
)
@click.option("--all", "everything", is_flag=True, help="Count every finished job, however long that takes.")
@click.option(
    "--histogram", type=click.Choice(["hour", "day"]), help="What came and ended in each hour or day."
)
@click.option("--each", type=click.Choice(["queue", "kind"]), help="A histogram for each queue or kind.")
@click.option("--durations", is_flag=True, help="How long jobs waited and attempts ran.")
@click.option("--failures", is_flag=True, help="With which types of errors attempts failed.")
@click.option("--today", is_flag=True, help="The queue at a glance.")
@tz_option
@output_option("table", "json")
@tenant_option
@connection_options
def stats(tz: str | None, since: str | None, everything: bool, form: str, **asked: Any) -> None:
    """Count the jobs of each queue by state.

    Finished jobs are counted since yesterday at this time, unless --since says another moment. "late" is for how
    long the longest due job has been waiting. --tz names the zone whose hours and days a histogram has.

    \b
    Examples:
      minutehand stats
      minutehand stats --by kind --since 7d
      minutehand stats --histogram day --since 30d --tz Europe/Berlin
      minutehand stats --durations --queue mail -o json
    """
    which = {name: asked[name] for name in ("queue", "kind")}
    with open_database() as database:
        moment = moment_of(database, since, tz, "--since")
        if asked["histogram"]:
            zone = {"zone": tz or "UTC", "by": asked["histogram"], "each": asked["each"]}
            _put(
                measure.histogram(database, since=moment, **zone, **which),
                form,
                lambda bins: _put_bins(bins, tz),
            )
        elif asked["durations"]:
            told = measure.durations(database, since=moment, by_kind=asked["by"] == "kind", **which)
            _put(told, form, _put_durations)
        elif asked["failures"]:
            _put(measure.failures(database, since=moment, **which), form, _put_failures)
        elif asked["today"]:
            _put([measure.today(database, tz or "UTC")], form, _put_today)
        else:
            begin = None if everything else moment or clock(database) - DAY
            _count(database, begin, form, by_kind=asked["by"] == "kind", **which)


def _count(database: Database, since: datetime | None, form: str, **which: Any) -> None:
    depths, now = read_stats(database, since=since, **which), clock(database)
    if form == "json":
        for depth in depths:
            put_json(depth)
    elif not depths:
        say("There are no jobs yet; add one: minutehand enqueue echo '\"hello\"'")
    else:
        names = sorted({(depth.queue, depth.kind or "") for depth in depths})
        lates = {(d.queue, d.kind or ""): now - d.since for d in depths if d.state == "due"}
        put_table(
            ["queue", "kind", *STATES, "late"],
            [[*name, *_counts(name, depths), _late(lates.get(name))] for name in names],
        )


def _counts(name: tuple[str, str], depths: list[Depth]) -> list[str]:
    counts = {depth.state: str(depth.jobs) for depth in depths if (depth.queue, depth.kind or "") == name}
    return [counts.get(state, "") for state in STATES]


def _late(late: timedelta | None) -> str:
    return "" if late is None else text.span(late)


def _put(told: list[Any], form: str, put: Callable[[list[Any]], None]) -> None:
    if form == "json":
        for each in told:
            put_json(each)
    elif told:
        put(told)
    else:
        say("Nothing of that kind happened.")


def _put_bins(bins: list[measure.Bin], tz: str | None) -> None:
    zone = ZoneInfo(tz or "UTC")
    most = max(each.done + each.dead + each.cancelled for each in bins) or 1
    put_table(
        ["from", "name", "enqueued", "done", "dead", "cancelled", "ended"],
        [[f"{each.start.astimezone(zone):%Y-%m-%d %H:%M %Z}", each.name or "", f"{each.enqueued}", f"{each.done}",
          f"{each.dead}", f"{each.cancelled}", "#" * round(20 * (each.done + each.dead + each.cancelled) / most)]
         for each in bins],
    )  # fmt: skip


def _put_durations(told: list[measure.Durations]) -> None:
    put_table(
        ["queue", "kind", "of", "count", "half", "95 %", "99 %", "most"],
        [
            [each.queue, each.kind or "", what, f"{spread.count}", *_seconds(spread)]
            for each in told
            for what, spread in (("wait", each.wait), ("run", each.run))
            if spread is not None
        ],
    )


def _seconds(spread: Spread) -> list[str]:
    return [f"{each.total_seconds():.3f} s" for each in (spread.p50, spread.p95, spread.p99, spread.most)]


def _put_failures(told: list[measure.Failure]) -> None:
    put_table(
        ["queue", "kind", "error", "attempts", "last"],
        [[each.queue, each.kind, each.error, f"{each.attempts}", text.local(each.last)] for each in told],
    )


def _put_today(told: list[measure.Today]) -> None:
    (glance,) = told
    put_table(
        ["", "now"],
        [
            [name.replace("_", " "), text.local(value) if isinstance(value, datetime) else f"{value}"]
            for name, value in vars(glance).items()
            if value is not None
        ],
    )
