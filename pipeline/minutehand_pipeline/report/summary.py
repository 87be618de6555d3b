"""The report in a sentence and a few numbers: the last whole week if there is one, else the window."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from typing import Any

from minutehand_pipeline.report import words
from minutehand_pipeline.report.capacity import ASSUMPTIONS, Advice, Question, said, too_few
from minutehand_pipeline.report.config import ReportConfig
from minutehand_pipeline.report.process import Process
from minutehand_pipeline.report.window import Window

MADE_BY, VERSION = "minutehand pipeline report", 1

Tables = Mapping[str, list[dict[str, Any]]]


def summarise(
    config: ReportConfig, window: Window, tables: Tables, process: Process, plans: list[Advice]
) -> dict[str, Any]:
    """Return what `report.json` says: what the report is of, its totals, its headline, notes and advice."""
    totals = total(tables["days"], config.target)
    week = last_week(tables["weeks"])
    question = Question(config.objective, config.target, config.prices, config.architecture, config.pauses)
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
        "prices": _prices(config),
        "headline": headline(config, window, totals, week),
        "totals": totals,
        "week": week and {name: week[name] for name in ("week", "jobs", "dead", "within", "cost")},
        "mean_busy": float(process.busy.mean()),
        "peak_busy": float(process.busy.max()),
        "notes": notes(config, tables),
        "advice": said(plans, question) if plans else [],
        "no_advice": too_few(process),
        "assumptions": list(ASSUMPTIONS),
    }


def total(days: list[dict[str, Any]], target: float) -> dict[str, Any]:
    """Return the sums over the days, and the share that was in time."""
    names = ("jobs", "done", "dead", "cancelled", "counted", "late", "cost")
    sums: dict[str, Any] = {name: sum(day[name] or 0 for day in days) for name in names}
    share = sums["late"] / sums["counted"] if sums["counted"] else None
    within, burn = (None, None) if share is None else (1 - share, share / (1 - target))
    return {**sums, "within": within, "burn": burn}


def last_week(weeks: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the last week that is whole and has jobs; None if there is none."""
    return next((week for week in reversed(weeks) if week["whole"] and week["jobs"]), None)


def headline(
    config: ReportConfig, window: Window, totals: Mapping[str, Any], week: Mapping[str, Any] | None
) -> str:
    """Return the answer in one sentence."""
    if not totals["jobs"]:
        return f"No job ended {words.span(window.since, window.until)}."
    of = week or totals
    parts = [words.short_count(of["jobs"], "job")]
    if of["within"] is not None:
        parts.append(f"{words.share(of['within'])} begun within {words.seconds(config.objective)}")
    parts.append(f"{words.short_count(of['dead'])} dead")
    if totals["cost"]:
        parts.append(words.money(of["cost"], config.currency))
    when = "Last week" if week else _when(window.since, window.until)
    return f"{when}: {', '.join(parts)}."


def notes(config: ReportConfig, tables: Tables) -> list[str]:
    """Return what a reader has to know of the numbers: days that are missing or not over, what is not in them."""
    days, found = tables["days"], []
    if days and days[-1]["partial"]:
        found.append(f"{words.day(days[-1]['day'])} was not over when this was made.")
    empty = [day["day"] for day in days if day["empty"]]
    if empty and len(empty) < len(days):
        named = ", ".join(words.day(day) for day in empty[:5]) + (" and others" if len(empty) > 5 else "")
        found.append(f"Nothing ended on {words.count(len(empty), 'day')} of the window: {named}.")
    jobs, counted = (sum(day[name] for day in days) for name in ("jobs", "counted"))
    if jobs > counted:
        found.append(f"{words.count(jobs - counted, 'job')} have no first attempt here, and no wait: cancelled before "
                     "it, or it was long before the window.")  # fmt: skip
    attempts = sum(row["attempts"] for row in tables["retries"])
    on_lambda = sum(row["attempts"] for row in tables["costs"])
    if attempts > on_lambda:
        found.append(f"{words.count(attempts - on_lambda, 'attempt')} cost nothing here: they ran elsewhere than on "
                     "Lambda, or their worker never said when they ended.")  # fmt: skip
    return found


def _when(since: date, until: date) -> str:
    said = words.span(since, until)
    return said[0].upper() + said[1:]


def _prices(config: ReportConfig) -> dict[str, Any]:
    return {**asdict(config.prices), "dated": config.prices.dated.isoformat()}
