"""The summary of a report: headline, totals, notes and advice."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from typing import Any

from minutehand_pipeline.report import words
from minutehand_pipeline.report.advice import ASSUMPTIONS, Advice, Goal, advice_sentences
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.window import Window
from minutehand_pipeline.report.workload import Workload

MADE_BY, VERSION = "minutehand pipeline report", 1

Tables = Mapping[str, list[dict[str, Any]]]


def summarize(
    config: ReportConfig, window: Window, tables: Tables, workload: Workload, advice: Advice | str
) -> dict[str, Any]:
    """Return the content of `report.json`. `advice` is the reason if there is none."""
    totals = total(tables["days"], config.target)
    week = last_week(tables["weeks"])
    goal = Goal(config.objective, config.target, config.prices, config.architecture)
    return {
        "made_by": MADE_BY,
        "version": VERSION,
        "since": window.since.isoformat(),
        "until": window.until.isoformat(),
        "zone": "UTC",
        "queue": config.queue,
        "objective_seconds": config.objective,
        "target": config.target,
        "currency": config.currency,
        "architecture": config.architecture,
        "prices": {**asdict(config.prices), "dated": config.prices.dated.isoformat()},
        "headline": headline(config, window, totals, week),
        "totals": totals,
        "week": week and {name: week[name] for name in ("week", "jobs", "dead", "within", "cost")},
        "mean_busy": float(workload.busy.mean()),
        "peak_busy": float(workload.busy.max()),
        "notes": notes(tables),
        "advice": []
        if isinstance(advice, str)
        else advice_sentences(advice, goal, workload, config.currency),
        "no_advice": advice if isinstance(advice, str) else "",
        "assumptions": list(ASSUMPTIONS),
    }


def total(days: list[dict[str, Any]], target: float) -> dict[str, Any]:
    """Return the sums over the days, the share that was in time, and the burn rate."""
    names = ("jobs", "done", "dead", "expired", "cancelled", "counted", "late", "cost")
    sums: dict[str, Any] = {name: sum(day[name] or 0 for day in days) for name in names}
    late = sums["late"] / sums["counted"] if sums["counted"] else None
    within, burn = (None, None) if late is None else (1 - late, late / (1 - target))
    return {**sums, "within": within, "burn": burn}


def last_week(weeks: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the last complete week that has jobs, or None."""
    return next((week for week in reversed(weeks) if week["whole"] and week["jobs"]), None)


def headline(
    config: ReportConfig, window: Window, totals: Mapping[str, Any], week: Mapping[str, Any] | None
) -> str:
    """Return the result in one sentence, about the last complete week or about the window."""
    if not totals["jobs"]:
        return f"No job ended {words.span(window.since, window.until)}."
    numbers = week or totals
    parts = [words.short_count(numbers["jobs"], "job")]
    if numbers["within"] is not None:
        parts.append(f"{words.share(numbers['within'])} started within {words.seconds(config.objective)}")
    parts.append(f"{words.short_count(numbers['dead'])} dead")
    if totals["cost"]:
        parts.append(words.money(numbers["cost"], config.currency))
    when = "Last week" if week else _capitalized_span(window.since, window.until)
    return f"{when}: {', '.join(parts)}."


def notes(tables: Tables) -> list[str]:
    """Return notes on incomplete and empty days, and on jobs and attempts that some numbers leave out."""
    days, found = tables["days"], []
    if days and days[-1]["partial"]:
        found.append(f"{words.day(days[-1]['day'])} is incomplete: it was not over when the report was made.")
    empty = [day["day"] for day in days if day["empty"]]
    if empty and len(empty) < len(days):
        named = ", ".join(words.day(day) for day in empty[:5]) + (" and others" if len(empty) > 5 else "")
        found.append(f"No job ended on {words.count(len(empty), 'day')} of the window: {named}.")
    jobs, counted = (sum(day[name] for day in days) for name in ("jobs", "counted"))
    if jobs > counted:
        found.append(
            f"{words.count(jobs - counted, 'job')} without a first attempt in the lake: cancelled or expired before it "
            "started, or started long before the window. Waits and lateness leave these out."
        )
    attempts = sum(row["attempts"] for row in tables["retries"])
    on_lambda = sum(row["attempts"] for row in tables["costs"])
    if attempts > on_lambda:
        found.append(
            f"{words.count(attempts - on_lambda, 'attempt')} without a cost: not run on Lambda, or the worker never "
            "reported the end."
        )
    return found


def _capitalized_span(since: date, until: date) -> str:
    span = words.span(since, until)
    return span[0].upper() + span[1:]
