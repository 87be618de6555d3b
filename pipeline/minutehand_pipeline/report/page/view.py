"""The values of the page's template: figures, charts and tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from minutehand_pipeline.report import words
from minutehand_pipeline.report.config import ReportResult
from minutehand_pipeline.report.page import charts
from minutehand_pipeline.report.page.charts import Chart, Series
from minutehand_pipeline.report.page.scale import durations, linear

Rows = list[dict[str, Any]]
Row = Mapping[str, Any]

# Rows of a table on the page; the files have all rows.
MAX_ROWS = 20
SHOWN = ("durations", "retries", "failures", "lateness", "costs", "tenants", "weeks", "capacity")


def page_values(result: ReportResult, busiest: Sequence[float]) -> dict[str, Any]:
    """Return the template's values."""
    summary, tables = result.summary, result.tables
    since, until = (date.fromisoformat(summary[name]) for name in ("since", "until"))
    return {
        **{name: tables[name][:MAX_ROWS] for name in SHOWN},
        "summary": summary,
        "totals": summary["totals"],
        "window": words.span(since, until),
        "figures": _figures(summary, tables) if summary["totals"]["jobs"] else [],
        "charts": _charts(busiest, since, summary, tables),
        "waits": _durations(tables["durations"], "wait"),
        "runs": _durations(tables["durations"], "run"),
        "late": _sorted(tables["lateness"])[:MAX_ROWS],
        "most_rows": MAX_ROWS,
        "longer": {name: len(tables[name]) for name in SHOWN if len(tables[name]) > MAX_ROWS},
        "several_tenants": len(tables["tenants"]) > 1,
    }


def _figures(summary: Row, tables: Mapping[str, Rows]) -> list[dict[str, Any]]:
    """Return the four figures at the top, each with its change and its daily values."""
    week: Row = next(
        (each for each in tables["weeks"] if summary["week"] and each["week"] == summary["week"]["week"]), {}
    )
    numbers = week or summary["totals"]

    def money(value: float | None) -> str:
        return words.money(value, summary["currency"])

    def figure(
        title: str,
        column: str,
        value: Callable[[Any], str],
        change: Callable[[float], str],
        tone: str,
        daily: str = "",
    ) -> dict[str, Any]:
        changed = words.change(week.get(f"{column}_change"), change)
        return {
            "name": title,
            "value": value(numbers[column]),
            "change": changed and f"{changed} from the week before",
            "spark": charts.sparkline([day[daily or column] or 0 for day in tables["days"]], tone),
        }

    return [
        figure("Jobs ended", "jobs", words.short_count, words.short_count, "first"),
        figure("Started in time", "within", words.share, words.points, "bad", daily="late"),
        figure("Dead", "dead", words.short_count, words.short_count, "bad"),
        figure("Run time on Lambda", "cost", money, money, "second"),
    ]


def _charts(
    busiest: Sequence[float], since: date, summary: Row, tables: Mapping[str, Rows]
) -> dict[str, Chart]:
    days = tables["days"]
    objective = (summary["objective_seconds"], "objective")
    drawn = {
        "ended": _ended(days),
        "burn": _burn(days),
        "wait": _percentiles(days, "wait", "Wait until the first attempt", objective),
        "run": _percentiles(days, "run", "Run time of attempts", None),
    }
    for advice in tables["capacity"][:1]:
        drawn["busy"] = _busy(
            busiest, since, advice["capacity"], "advised" if advice["advised"] else "nearest"
        )
    return drawn


def _ended(days: Rows) -> Chart:
    tones = {"done": "first", "expired": "soft", "cancelled": "soft", "dead": "bad"}
    series = [
        Series(name, tone, [day[name] for day in days])
        for name, tone in tones.items()
        if any(day[name] for day in days)
    ]
    most = max(days, key=lambda day: day["jobs"])
    alt = f"Jobs that ended on each day. Maximum: {words.count(most['jobs'])} on {words.day(most['day'])}."
    scale = linear([day["jobs"] for day in days])
    return charts.bars("Jobs that ended", alt, _days(days), series, scale, words.short_count, _faint(days))


def _burn(days: Rows) -> Chart:
    values = [day["burn"] or 0.0 for day in days]
    over = sum(value > 1 for value in values)
    alt = f"Burn rate of the error budget on each day. It was above 1 on {words.count(over, 'day')}."
    series = [
        Series("", "second", [min(value, 1.0) for value in values]),
        Series("", "bad", [max(value - 1.0, 0.0) for value in values]),
    ]
    chart = charts.bars(
        "Burn rate of the error budget",
        alt,
        _days(days),
        series,
        linear([1.0, *values]),
        words.number,
        _faint(days),
        rule=(1.0, "budget"),
    )
    # A tooltip shows the day's total instead of the two parts.
    texts = {
        words.day(day["day"]): f"{words.day(day['day'])}: {words.number(value)}"
        for day, value in zip(days, values, strict=True)
    }
    named = [replace(bar, text=texts[bar.text.partition(":")[0]]) for bar in chart.bars]
    return replace(chart, bars=named, keys=())


def _percentiles(days: Rows, name: str, title: str, rule: charts.Rule | None) -> Chart:
    series = [
        Series(f"p{share}", tone, [day[f"{name}_p{share}"] for day in days])
        for share, tone in ((99, "third"), (95, "second"), (50, "first"))
    ]
    values = [value for each in series for value in each.values if value is not None]
    last = ", ".join(f"{each.name} {words.seconds(charts.last_value(each.values))}" for each in series)
    alt = f"{title}: percentiles by day. Last values: {last}."
    scale = durations([*values, rule[0]] if rule else values)
    return charts.lines(title, alt, _days(days), series, scale, words.seconds, rule)


def _busy(busiest: Sequence[float], since: date, capacity: int, name: str) -> Chart:
    highest, title = words.number(max(busiest)), "Jobs running in the busiest minute of each hour"
    alt = f"{title}. Maximum: {highest}; {name} capacity: {words.count(capacity)}."
    return charts.area(
        title, alt, since, busiest, linear([*busiest, capacity]), words.number, (capacity, name)
    )


def _durations(rows: Rows, what: str) -> Rows:
    return _sorted([row for row in rows if row["what"] == what])[:MAX_ROWS]


def _sorted(rows: Rows) -> Rows:
    """Sort by queue and kind, totals first."""
    return sorted(
        rows,
        key=lambda row: (
            row["queue"] is not None,
            row["queue"] or "",
            row["kind"] is not None,
            row["kind"] or "",
        ),
    )


def _days(days: Rows) -> list[date]:
    return [day["day"] for day in days]


def _faint(days: Rows) -> list[bool]:
    return [bool(day["partial"]) for day in days]
