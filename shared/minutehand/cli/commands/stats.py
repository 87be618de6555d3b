"""`minutehand stats`: counts of jobs, histograms, durations and failures."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import click

from minutehand.cli import text
from minutehand.cli.kinds import complete_kinds
from minutehand.cli.once import filter_option
from minutehand.cli.options import connection_options, open_database, output_option, tenant_option, tz_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.scope import print_if_paused
from minutehand.cli.tables import Column
from minutehand.cli.times import optional_time
from minutehand.database import Database
from minutehand.database.tenants import TenantDatabase
from minutehand.errors import ForbiddenError
from minutehand.model.row import STATES
from minutehand.queries import statistics
from minutehand.queries.jobs import Depth, clock
from minutehand.queries.jobs import stats as count_jobs
from minutehand.queries.paused import Paused, paused_due
from minutehand.queries.statistics import Spread

DAY = timedelta(days=1)
BAR_CHARACTERS = 20
REPORTS = ("histogram", "durations", "failures", "today")
SHOWN = ("scheduled", "due", "paused", *STATES[2:])
SHORT = {"scheduled": "sched", "offered": "offer", "running": "run", "retrying": "retry", "cancelled": "canc"}
# How soon a column is left out in a narrow terminal.
RANKS = {"offered": 1, "cancelled": 2, "expired": 3}
COUNTS = [
    Column(name="queue", least=8),
    Column(name="kind", least=8),
    *(Column(name=name, short=SHORT.get(name, ""), rank=RANKS.get(name, 0), number=True) for name in SHOWN),
    Column(name="late"),
]

Name = tuple[str, str | None]


@click.command()
@click.option(
    "--by",
    type=click.Choice(["queue", "kind"]),
    default="queue",
    show_default=True,
    help="Count by queue or kind.",
)
@filter_option("--queue", help="Only jobs in this queue.")
@filter_option("--kind", shell_complete=complete_kinds, help="Only jobs of this kind.")
@filter_option(
    "--since",
    metavar="WHEN",
    help="Count jobs finished since then: how long ago, such as 7d, or a time.  [24h]",
)
@click.option("--all", "everything", is_flag=True, help="Count all finished jobs, which may be slow.")
@click.option(
    "--histogram", type=click.Choice(["hour", "day"]), help="Count the jobs enqueued and finished over time."
)
@click.option("--each", type=click.Choice(["queue", "kind"]), help="Show a histogram for each queue or kind.")
@click.option("--durations", is_flag=True, help="Show how long jobs waited and attempts ran.")
@click.option("--failures", is_flag=True, help="Count failed attempts by type of error.")
@click.option("--today", is_flag=True, help="Show an overview.")
@tz_option
@output_option("table", "json")
@tenant_option
@connection_options
def stats(tz: str | None, since: str | None, everything: bool, form: str, **options: Any) -> None:
    """Count the jobs of each queue by state.

    The column "paused" counts due jobs that a pause stops, and "due" counts the others. The column "late" shows how
    long the oldest job in "due" has been waiting. --tz is also the time zone of a histogram.

    \b
    Examples:
      minutehand stats
      minutehand stats --by kind --since 7d
      minutehand stats --histogram day --since 30d --tz Europe/Berlin
      minutehand stats --durations --queue mail -o json
    """
    _check(since=since is not None, everything=everything, **options)
    filters = {name: options[name] for name in ("queue", "kind")}
    by_kind = options["by"] == "kind"
    with open_database() as database:
        moment = optional_time(database, since, tz, "--since")
        if options["histogram"]:
            unit = {"zone": tz or "UTC", "by": options["histogram"], "each": options["each"]}
            bins = statistics.histogram(database, since=moment, **unit, **filters)
            _put(bins, form, lambda found: _put_bins(found, tz))
        elif options["durations"]:
            spreads = statistics.durations(database, since=moment, by_kind=by_kind, **filters)
            _put(spreads, form, _put_durations)
        elif options["failures"]:
            _put(statistics.failures(database, since=moment, **filters), form, _put_failures)
        elif options["today"]:
            _put([statistics.today(database, tz or "UTC")], form, _put_today)
        else:
            begin = None if everything else moment or clock(database) - DAY
            _count(database, begin, form, by_kind=by_kind, **filters)


def _check(*, since: bool, everything: bool, **options: Any) -> None:
    """Refuse options that the report would ignore."""
    reports = [f"--{name}" for name in REPORTS if options[name]]
    if len(reports) > 1:
        raise click.UsageError(f"expected one report, got {' and '.join(reports)}")
    if since and everything:
        raise click.UsageError("expected --since or --all, got both")
    if everything and reports:
        raise click.UsageError(f"--all must not be combined with {reports[0]}; use --since")
    if options["each"] and not options["histogram"]:
        raise click.UsageError("--each requires --histogram")
    if options["today"] and (since or everything or options["queue"] or options["kind"]):
        raise click.UsageError(
            "--today must not be combined with --queue, --kind, --since or --all: it counts all jobs of today"
        )


def _count(database: Database, since: datetime | None, form: str, **filters: Any) -> None:
    depths, now = count_jobs(database, since=since, **filters), clock(database)
    if form == "json":
        for depth in depths:
            put_json(depth)
    elif not depths:
        print_message("There are no jobs yet; add one: minutehand enqueue echo '\"hello\"'")
    else:
        put_table(COUNTS, _count_rows(depths, paused_due(database, **filters), now))
        print_if_paused(database)
        _print_unserved(database)


def _count_rows(depths: list[Depth], pauses: Mapping[Name, Paused], now: datetime) -> list[list[str]]:
    """Return a row for each queue or kind; jobs that a pause stops are not due, and not late."""
    rows = []
    for name in sorted(
        {(depth.queue, depth.kind) for depth in depths}, key=lambda each: (each[0], each[1] or "")
    ):
        counts: dict[str, int] = {
            depth.state: depth.jobs for depth in depths if (depth.queue, depth.kind) == name
        }
        late = next((d.since for d in depths if (d.queue, d.kind) == name and d.state == "due"), None)
        if stopped := pauses.get(name):
            counts |= {"due": counts.get("due", 0) - stopped.paused, "paused": stopped.paused}
            late = stopped.since
        numbers = [str(counts.get(state) or "") for state in SHOWN]
        rows.append([name[0], name[1] or "", *numbers, text.span(now - late) if late else ""])
    return rows


def _print_unserved(database: Database) -> None:
    """Print the queues that no worker serves, if the caller may see all queues."""
    if isinstance(database, TenantDatabase):
        return
    with suppress(ForbiddenError):
        for each in statistics.unserved(database):
            late = f"{text.jobs(each.due)} due, the oldest for {text.span(each.late)}"
            print_message(f"No worker serves queue {each.queue}: {late}.")


def _put(found: list[Any], form: str, put: Callable[[list[Any]], None]) -> None:
    if form == "json":
        for each in found:
            put_json(each)
    elif found:
        put(found)
    else:
        print_message("Nothing matches.")


def _put_bins(bins: list[statistics.Bin], tz: str | None) -> None:
    zone = ZoneInfo(tz or "UTC")
    highest = max(map(_finished, bins)) or 1
    rows = [
        [
            f"{each.start.astimezone(zone):%Y-%m-%d %H:%M %Z}",
            each.name or "",
            *(f"{count}" for count in (each.enqueued, each.done, each.dead, each.expired, each.cancelled)),
            "#" * round(BAR_CHARACTERS * _finished(each) / highest),
        ]
        for each in bins
    ]
    put_table(["from", "name", "enqueued", "done", "dead", "expired", "cancelled", "finished"], rows)


def _finished(each: statistics.Bin) -> int:
    return each.done + each.dead + each.expired + each.cancelled


def _put_durations(found: list[statistics.Durations]) -> None:
    rows = [
        [each.queue, each.kind or "", name, f"{spread.count}", *_seconds(spread)]
        for each in found
        for name, spread in (("wait", each.wait), ("run", each.run))
        if spread is not None
    ]
    put_table(["queue", "kind", "duration", "count", "p50", "p95", "p99", "max"], rows)


def _seconds(spread: Spread) -> list[str]:
    return [f"{each.total_seconds():.3f} s" for each in (spread.p50, spread.p95, spread.p99, spread.max)]


def _put_failures(found: list[statistics.Failure]) -> None:
    put_table(
        ["queue", "kind", "error", "attempts", "last"],
        [[each.queue, each.kind, each.error, f"{each.attempts}", text.local(each.last)] for each in found],
    )


def _put_today(found: list[statistics.Today]) -> None:
    (overview,) = found
    rows = [
        [name.replace("_", " "), text.local(value) if isinstance(value, datetime) else f"{value}"]
        for name, value in vars(overview).items()
        if value is not None
    ]
    put_table(["", "now"], rows)
