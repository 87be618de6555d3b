"""Advice: how many workers, which chunk and which wake mode the observed arrivals ask for, and what each would cost."""

import math
from dataclasses import dataclass

import numpy as np

from minutehand_pipeline.prices import MONTH_HOURS, Prices
from minutehand_pipeline.report.process import MODES, Mode, Process, awake_minutes, workers_for

LEAST_JOBS = 1000
CHUNKS = (1, 2, 5, 10, 20, 50, 100)
CHUNK_OF_OBJECTIVE = 0.1  # a chunk's last job may wait so much of the objective for the others of it
CHUNK_AT_MOST = 60.0  # seconds
GOOD_ENOUGH = 1.05  # what is simpler is taken if it costs no more than so much of the cheapest
TRIFLE = 1.0  # a month: for less no other mode is advised than the simplest
GLUE = 0.015  # seconds of an invocation beside the handler: claim and finish
TICK, DISPATCHER_GB = 0.15, 0.5  # seconds and memory of a run of the dispatcher
WATCH = 30.0  # seconds that prompt waits, on average, in a minute in which something falls due
SWEEPS = MONTH_HOURS / 6  # sleep looks after what was lost every six hours
UNITS = 0.5  # capacity units of a database that may pause

ASSUMPTIONS = (
    "Arrivals are those of the window, moved up to a month; growth is yours to add.",
    "Jobs fall due evenly within their minute, and each kind's jobs take its mean run time, retries included.",
    "Workers serve first in, first out, whatever the priority, queue, pause or limit.",
    "An invitation takes 0.3 s to reach a handler; a paused database takes 15 s to come back.",
    "A chunk's jobs run one after another, each behind all others of it.",
    "Glue is 15 ms an invocation, a tick 0.15 s at 512 MB; start-up of cold functions is not counted.",
    "The database is counted at 0.5 units, and only where it may pause.",
)


@dataclass(frozen=True)
class Advice:
    """What a wake mode would take: workers at once, jobs an invocation, and dollars a month.

    `workers` is how many invocations run at once, `capacity` the setting that allows them with this chunk, `within`
    the share of jobs begun in time, `meets` whether that is the target; `jobs_cost` is the handlers' run time,
    `glue_cost` their invocations, `ticks_cost` the dispatcher and its schedule; `database_cost` is not in `cost`.
    """

    mode: Mode
    workers: int
    chunk: int
    capacity: int
    within: float
    meets: bool
    invocations: float
    ticks: float
    awake_hours: float
    jobs_cost: float
    glue_cost: float
    ticks_cost: float
    database_cost: float
    cost: float
    chosen: bool


@dataclass(frozen=True)
class Question:
    """What is advised on: begin `target` of the jobs within `objective` seconds, at these prices."""

    objective: float
    target: float
    prices: Prices
    architecture: str
    pauses: bool = False  # whether the database may pause, so that its hours count in the choice


def too_few(process: Process) -> str:
    """Say in a sentence why nothing can be advised; an empty text if it can."""
    jobs, minutes = int(process.jobs.sum()), len(process.jobs)
    if jobs < LEAST_JOBS:
        there = f"{jobs:,} job{'s' * (jobs != 1)} in {minutes // 1440} day{'s' * (minutes != 1440)}"
        return f"{there}: too few to advise on. It takes {LEAST_JOBS:,} jobs."
    if not process.work.sum():
        return "No attempt in the window has a run time, so that nothing can be said of workers."
    return ""


def advise(process: Process, question: Question) -> list[Advice]:
    """Return each wake mode with what it takes; chosen is the simplest of the cheapest that meet the target."""
    if too_few(process):
        return []
    plans = [_plan(process, question, mode) for mode in MODES]
    fit = [plan for plan in plans if plan.meets]
    chosen = _simplest(fit, question) if fit else max(plans, key=lambda plan: plan.within)
    return [_with_choice(plan, plan is chosen) for plan in plans]


def _simplest(plans: list[Advice], question: Question) -> Advice:
    least = min(_price(plan, question) for plan in plans)
    return next(plan for plan in plans if _price(plan, question) <= max(least * GOOD_ENOUGH, least + TRIFLE))


def chunk_for(process: Process, question: Question, mode: Mode) -> int:
    """Return the smallest chunk that is about as cheap as the cheapest of those that keep nobody waiting long."""
    most = min(CHUNK_OF_OBJECTIVE * question.objective, CHUNK_AT_MOST)
    allowed = [k for k in CHUNKS if (k - 1) * process.run_p95 <= most]
    if mode == "prompt":  # a job is handed out as it comes, alone
        return 1
    whole = process.work.sum() * process.gigabytes * question.prices.gb_second[question.architecture]
    costs = {k: whole + _glue_cost(process, question, _invocations(process, k)) for k in allowed}
    return next(k for k in allowed if costs[k] <= min(costs.values()) * GOOD_ENOUGH)


def _plan(process: Process, question: Question, mode: Mode) -> Advice:
    chunk = chunk_for(process, question, mode)
    workers, within = workers_for(process, mode, chunk, question.objective, question.target)
    month = MONTH_HOURS * 60 / len(process.jobs)
    invocations = _invocations(process, chunk) * month
    ticks = float((process.jobs > 0).sum()) * month + SWEEPS if mode == "sleep" else MONTH_HOURS * 60
    awake = (
        min(MONTH_HOURS, awake_minutes(process) * month / 60 + SWEEPS * 0.1)
        if mode == "sleep"
        else MONTH_HOURS
    )
    watched = float((process.jobs > 0).sum()) * month * WATCH if mode == "prompt" else 0.0
    prices = question.prices
    ticking = prices.of_wakes(ticks) + prices.of_run(
        (ticks * TICK + watched) * DISPATCHER_GB, ticks, question.architecture
    )
    own = float(process.work.sum()) * month * process.gigabytes * prices.gb_second[question.architecture]
    glue = _glue_cost(process, question, invocations)
    return Advice(
        mode, workers, chunk, workers * chunk, within, within >= question.target, invocations, ticks, awake,
        jobs_cost=own, glue_cost=glue, ticks_cost=ticking,
        database_cost=prices.of_database(awake * 3600, UNITS), cost=own + glue + ticking, chosen=False,
    )  # fmt: skip


def _invocations(process: Process, chunk: int) -> float:
    return float(np.ceil(process.jobs / chunk).sum()) * max(1.0, process.tries)


def _glue_cost(process: Process, question: Question, invocations: float) -> float:
    return question.prices.of_run(invocations * GLUE * process.gigabytes, invocations, question.architecture)


def _price(plan: Advice, question: Question) -> float:
    return plan.cost + (plan.database_cost if question.pauses else 0.0)


def _with_choice(plan: Advice, chosen: bool) -> Advice:
    return Advice(**{**vars(plan), "chosen": chosen})


def said(plans: list[Advice], question: Question) -> list[str]:
    """Return the advice as sentences, the answer first."""
    plan = next(plan for plan in plans if plan.chosen)
    promise = (
        f"{math.floor(plan.within * 1000) / 10:g} % of the jobs would begin within {question.objective:g} s"
    )
    sentences = [
        f"Wake {_woken(plan.mode)}, with room for {plan.workers:,} worker{'s' * (plan.workers != 1)} and "
        f"{plan.chunk} job{'s' * (plan.chunk != 1)} an invocation (MINUTEHAND_CAPACITY={plan.capacity}, "
        f"MINUTEHAND_CHUNK={plan.chunk}): {promise}, for ${plan.cost:,.2f} a month."
    ]
    if not plan.meets:
        sentences.append(
            f"No mode reaches {question.target * 100:g} %: allow more time, or less of a target."
        )
    sleep = next(plan for plan in plans if plan.mode == "sleep")
    if not question.pauses and sleep.awake_hours < MONTH_HOURS / 2:
        saved = question.prices.of_database((MONTH_HOURS - sleep.awake_hours) * 3600, UNITS)
        sentences.append(
            f"A database that may pause would be awake {sleep.awake_hours:,.0f} of {MONTH_HOURS:,.0f} hours in mode "
            f"sleep, which saves ${saved:,.2f} a month if nothing else keeps it awake."
        )
    return sentences


def _woken(mode: Mode) -> str:
    return {"minute": "every minute", "prompt": "promptly", "sleep": "only when something is due"}[mode]
