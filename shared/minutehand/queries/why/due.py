"""The reasons of a due job, the most certain ones first."""

from collections.abc import Callable
from datetime import tzinfo
from typing import Any

from minutehand.model.display import span
from minutehand.queries.commands import names_of, resume_command
from minutehand.queries.why.evidence import UNSERVED_AFTER, Evidence, Found
from minutehand.queries.why.groups import GROUP_REASONS
from minutehand.queries.why.limits import LIMIT_REASONS
from minutehand.queries.why.words import place, storm, time_in


def _paused(known: Evidence, zone: tzinfo) -> Found | None:
    pause = known.pause
    if pause is None:
        return None
    by = f" by {known.paused_by}" if known.paused_by else ""
    since = f" since {time_in(pause.changed, zone)}" if pause.changed else ""
    until = f" until {time_in(pause.until, zone)}" if pause.until else ", until somebody resumes it"
    because = f" ({pause.reason})" if pause.reason else ""
    evidence = names_of(pause) | {"since": pause.changed, "until": pause.until, "by": known.paused_by}
    return (
        "paused",
        f"It is paused: {pause.scope}{by}{since}{until}{because}.",
        resume_command(pause),
        evidence,
    )


def _ending(known: Evidence, _: tzinfo) -> Found | None:
    row = known.row
    expired = row.expires is not None and row.attempts == 0 and row.run_at + row.expires <= known.now
    if row.attempts >= row.max_attempts:
        cause = "the worker of its last attempt stopped responding"
    elif row.cancelling is not None:
        cause = "its cancellation was requested and its worker stopped responding"
    elif expired:
        cause = "it did not start in time"
    else:
        return None
    return "ending", f"It does not run again, because {cause}; the next tick ends it.", "", {}


def _silent(known: Evidence, zone: tzinfo) -> Found | None:
    if not known.silent:
        return None
    ticked = known.dispatcher and known.dispatcher.ticked
    since = f"has not ticked since {time_in(ticked, zone)}" if ticked else "has never ticked"
    return (
        "silent_dispatcher",
        f"The dispatcher {since}, and no worker runs jobs of queue {known.row.queue}.",
        "minutehand doctor; to tick now: minutehand tick",
        {"ticked": ticked},
    )


def _full(known: Evidence, _: tzinfo) -> Found | None:
    dispatcher = known.dispatcher
    if dispatcher is None or not dispatcher.is_full:
        return None
    longest = ""
    if dispatcher.longest_since:
        ran = span(known.now - dispatcher.longest_since)
        longest = f"; {dispatcher.longest_kind} ({dispatcher.longest}) has been running for {ran}"
    evidence = {"capacity": dispatcher.capacity, "longest": dispatcher.longest}
    return (
        "capacity",
        f"The workers' capacity of {dispatcher.capacity} is used up{place(known)}{longest}{storm(known)}.",
        "minutehand ls --state offered --state running",
        evidence,
    )


def _unserved(known: Evidence, _: tzinfo) -> Found | None:
    late = known.now - known.row.visible
    if known.is_served or late < UNSERVED_AFTER or (known.dispatcher and known.dispatcher.budget is not None):
        return None
    return (
        "unserved",
        f"No worker has finished a job of queue {known.row.queue} for {span(UNSERVED_AFTER)}, "
        f"and this one has been due for {span(late)}{storm(known)}.",
        *_calming(
            known,
            f"see the worker's log, or run: minutehand work --queue {known.row.queue}",
            {"due_for": late.total_seconds()},
        ),
    )


def _throttled(known: Evidence, _: tzinfo) -> Found | None:
    budget, lapsed = (known.dispatcher.budget, known.dispatcher.lapsed) if known.dispatcher else (None, None)
    if budget is None or lapsed is None:
        return None
    return (
        "throttled",
        f"Workers did not claim offers of queue {known.row.queue} {span(known.now - lapsed)} ago, so at most "
        f"{budget} of its jobs are offered at once{place(known)}.",
        "see the worker's throttles, errors and reserved concurrency",
        {"budget": budget, "lapsed": lapsed},
    )


def _behind(known: Evidence, _: tzinfo) -> Found | None:
    line = known.line
    if line is None or not line.ahead:
        return None
    evidence = {"ahead": line.ahead, "estimate": line.estimate and line.estimate.total_seconds()}
    step = (
        f"to run it first: minutehand edit {known.row.id} --priority 9, or raise the capacity of the workers"
    )
    return "behind", f"It waits{place(known)}{storm(known)}.", *_calming(known, step, evidence)


def _calming(known: Evidence, step: str, evidence: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the next step and the evidence: if a kind fails again and again, those that concern it."""
    failing = known.failing
    if failing is None:
        return step, evidence
    evidence |= {"failing": failing.kind, "failed": failing.jobs, "error_type": failing.type}
    listing = f"minutehand ls --queue {known.row.queue} --kind {failing.kind}"
    return f"{listing}; to stop them: minutehand pause --kind {failing.kind}", evidence


def _stopped(known: Evidence, _: tzinfo) -> Found | None:
    if known.row.claimed is None:
        return None
    return (
        "worker_stopped",
        f"Its worker stopped responding in attempt {known.row.attempts}; the next tick offers it again.",
        f"see the worker's log of that attempt: minutehand show {known.row.id}",
        {"claimed": known.row.claimed},
    )


def _next(known: Evidence, _: tzinfo) -> Found:
    return (
        "next_tick",
        f"It has been due for {span(known.now - known.row.visible)} and is the next of its queue: "
        "the next tick, or a worker, takes it.",
        "",
        {},
    )


REASONS: tuple[Callable[[Evidence, tzinfo], Found | None], ...] = (
    _paused,
    _ending,
    *GROUP_REASONS,
    _silent,
    *LIMIT_REASONS,
    _full,
    _unserved,
    _throttled,
    _behind,
    _stopped,
    _next,
)
