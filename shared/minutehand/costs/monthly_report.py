"""The report of a month, from the history in a database."""

from datetime import datetime, timedelta

from minutehand.costs.dispatcher import Mode
from minutehand.costs.month import Month, month_of
from minutehand.costs.prices import Prices
from minutehand.costs.report import Costs, Report
from minutehand.database import Database
from minutehand.errors import ConfigurationError
from minutehand.queries.jobs import clock
from minutehand.queries.usage import DispatcherUsage, dispatcher_usage, finished_work, usage
from minutehand.settings import Settings

_DEFAULTS = (Settings.capacity, Settings.chunk)


def report_month(
    database: Database,
    month: Month | None,
    prices: Prices,
    architecture: str,
    mode: Mode,
    *,
    limit: timedelta | None = None,
) -> Report:
    """Return the costs of a month, of the current one by default; raise ConfigurationError if it is in the future.

    Raises BusyError if one of the statements takes longer than `limit`.
    """
    now = clock(database)
    month = month or month_of(now)
    if month.since > now:
        raise ConfigurationError(f"the month must not be in the future, got {month}")
    overhead, longest = prices(mode, "overhead_ms"), prices("sqs", "longest_delay_seconds")
    with database.transaction():
        if limit is not None:
            database.run("limit_time", milliseconds=round(limit.total_seconds() * 1000))
        used = usage(database, month.since, month.until, overhead_ms=overhead)
        by_dispatcher = dispatcher_usage(database, month.since)
        capacity, chunk = next(((each.capacity, each.chunk) for each in by_dispatcher), _DEFAULTS)
        work = finished_work(
            database, month.since, month.until, longest_delay=longest, capacity=capacity, chunk=chunk
        )
    elapsed = (min(now, month.until) - _installed(month, by_dispatcher)).total_seconds() / 60
    return Costs(prices, architecture, month, elapsed, used, work, by_dispatcher).report(mode)


def _installed(month: Month, by_dispatcher: list[DispatcherUsage]) -> datetime:
    """Return when the dispatcher began to run, if that was in this month: in any mode it runs at least once a day."""
    first = min((each.since for each in by_dispatcher), default=month.since)
    return first if first > month.since + timedelta(days=1) else month.since
