"""What the page shows of a result: charts and tables in the order in which they are read, the answer first."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from minutehand_pipeline.report import words
from minutehand_pipeline.report.config import ReportResult
from minutehand_pipeline.report.page import charts
from minutehand_pipeline.report.page.charts import Chart, Series
from minutehand_pipeline.report.page.scale import durations, linear

Rows = list[dict[str, Any]]

MOST_ROWS = 20  # of a table on the page; the files have them all
SHOWN = ("durations", "retries", "failures", "lateness", "costs", "tenants", "weeks", "capacity")


def view_of(result: ReportResult, busiest: Sequence[float]) -> dict[str, Any]:
    """Return the template's values."""
    summary, tables = result.summary, result.tables
    days = tables["days"]
    since, until = (date.fromisoformat(summary[name]) for name in ("since", "until"))
    shown = {name: tables[name][:MOST_ROWS] for name in SHOWN}
    return {
        **shown,
        "summary": summary,
        "totals": summary["totals"],
        "window": words.span(since, until),
        "figures": _figures(summary, tables) if summary["totals"]["jobs"] else [],
        "charts": _charts(days, busiest, since, summary, tables),
        "waits": _spread(tables["durations"], "wait"),
        "runs": _spread(tables["durations"], "run"),
        "late": _all_last(tables["lateness"])[:MOST_ROWS],
        "most_rows": MOST_ROWS,
        "longer": {name: len(tables[name]) for name in SHOWN if len(tables[name]) > MOST_ROWS},
        "several_tenants": len(tables["tenants"]) > 1,
    }


def _figures(summary: Mapping[str, Any], tables: Mapping[str, Rows]) -> list[dict[str, Any]]:
    """Return the four numbers at the top, each with what changed and its course by day."""
    week = next(
        (each for each in tables["weeks"] if summary["week"] and each["week"] == summary["week"]["week"]),
        None,
    )
    of, days, currency = week or summary["totals"], tables["days"], summary["currency"]
    change = week or {}

    def changed(name: str, say: Any) -> str:
        told = words.change(change.get(f"{name}_change"), say)
        return told and f"{told} on the week before"

    figures = [
        ("Jobs ended", words.short_count(of["jobs"]), changed("jobs", words.short_count), "jobs", "first"),
        ("Begun in time", words.share(of["within"]), changed("within", words.points), "late", "bad"),
        ("Dead", words.short_count(of["dead"]), changed("dead", words.short_count), "dead", "bad"),
        ("Run time on Lambda", words.money(of["cost"], currency),
         changed("cost", lambda value: words.money(value, currency)), "cost", "second"),
    ]  # fmt: skip
    return [
        {"name": name, "value": value, "change": told, "of": {"late": "late by day"}.get(column, "by day"),
         "spark": charts.spark([day[column] or 0 for day in days], tone)}
        for name, value, told, column, tone in figures
    ]  # fmt: skip


def _charts(
    days: Rows, busiest: Sequence[float], since: date, summary: Mapping[str, Any], tables: Mapping[str, Rows]
) -> dict[str, Chart]:
    drawn = {"ended": _ended(days), "burn": _burn(days)}
    for name, title, rule in (
        ("wait", "Wait until the first attempt", (summary["objective_seconds"], "objective")),
        ("run", "Run time of attempts", None),
    ):
        drawn[name] = _percentiles(days, name, title, rule)
    chosen = next((plan for plan in tables["capacity"] if plan["chosen"]), None)
    if chosen:
        drawn["busy"] = _busy(busiest, since, chosen["workers"])
    return drawn


def _ended(days: Rows) -> Chart:
    names = (("done", "first"), ("cancelled", "soft"), ("dead", "bad"))
    series = [
        Series(name, tone, [day[name] for day in days])
        for name, tone in names
        if any(day[name] for day in days)
    ]
    most = max(days, key=lambda day: day["jobs"])
    alt = f"Jobs that ended on each day. The most, {words.count(most['jobs'])}, on {words.day(most['day'])}."
    scale = linear([day["jobs"] for day in days])
    return charts.bars("Jobs that ended", alt, _days(days), series, scale, words.short_count, _faint(days))


def _burn(days: Rows) -> Chart:
    values = [day["burn"] or 0.0 for day in days]
    over = sum(value > 1 for value in values)
    alt = f"How fast the error budget burnt on each day. It was more than 1 on {words.count(over, 'day')}."
    series = [
        Series("", "second", [min(value, 1.0) for value in values]),
        Series("", "bad", [max(value - 1.0, 0.0) for value in values]),
    ]
    chart = charts.bars("Burn of the error budget", alt, _days(days), series, linear([1.0, *values]), words.number,
                        _faint(days), rule=(1.0, "budget"))  # fmt: skip
    told = {words.day(day["day"]): f"{words.day(day['day'])}: {words.number(value)}"
            for day, value in zip(days, values, strict=True)}  # fmt: skip
    named = [charts.Bar(**{**vars(bar), "text": told[bar.text.partition(":")[0]]}) for bar in chart.bars]
    return Chart(**{**vars(chart), "bars": named, "keys": ()})


def _percentiles(days: Rows, name: str, title: str, rule: tuple[float, str] | None) -> Chart:
    series = [
        Series(f"p{share}", tone, [day[f"{name}_p{share}"] for day in days])
        for share, tone in ((99, "third"), (95, "second"), (50, "first"))
    ]
    values = [value for each in series for value in each.values if value is not None]
    last = ", ".join(f"{each.name} {words.seconds(_last(each.values))}" for each in series)
    alt = f"{title}, percentiles by day; on the last: {last}."
    scale = durations([*values, rule[0]] if rule else values)
    return charts.lines(title, alt, _days(days), series, scale, words.seconds, rule)


def _busy(busiest: Sequence[float], since: date, workers: int) -> Chart:
    alt = (f"Workers that the busiest minute of each hour keeps busy; the most is {words.number(max(busiest))}, "
           f"and the advice is {words.count(workers)}.")  # fmt: skip
    scale = linear([*busiest, workers])
    return charts.area("Workers kept busy by each hour's busiest minute", alt, since, busiest, scale, words.number,
                       (workers, "advised"))  # fmt: skip


def _spread(rows: Rows, what: str) -> Rows:
    return _all_last([row for row in rows if row["what"] == what])[:MOST_ROWS]


def _all_last(rows: Rows) -> Rows:
    """Return the rows by queue and kind: those of a queue's kinds, then of all in it; at the head, of everything."""
    return sorted(rows, key=lambda row: (row["queue"] is not None, row["queue"] or "", row["kind"] is not None,
                                         row["kind"] or ""))  # fmt: skip


def _days(days: Rows) -> list[date]:
    return [day["day"] for day in days]


def _faint(days: Rows) -> list[bool]:
    return [bool(day["partial"]) for day in days]


def _last(values: Sequence[float | None]) -> float | None:
    return next((value for value in reversed(values) if value is not None), None)
