"""Choose the one reason why a job has not finished, and put it into a sentence."""

from collections.abc import Iterator, Mapping
from datetime import timedelta, tzinfo
from typing import Any

from minutehand.model.display import error_line, safe, span
from minutehand.model.row import FINISHED, Row
from minutehand.queries.why.due import REASONS
from minutehand.queries.why.evidence import Answer, Evidence, Found
from minutehand.queries.why.words import attempts, time_in, zone_of

SLOW_OFFER = timedelta(seconds=30)
OUTCOMES = {
    "done": "finished successfully",
    "dead": "died",
    "expired": "expired",
    "cancelled": "was cancelled",
}


def answer(known: Evidence, zone: tzinfo | None = None) -> Answer:
    """Return the first reason that applies; the most certain ones come first."""
    row = known.row
    reason, sentence, next_step, evidence = next(_reasons(known, zone_of(row, zone)))
    return Answer(
        job=row.id,
        queue=row.queue,
        kind=row.kind,
        state=row.state,
        reason=reason,
        sentence=safe(sentence),
        next_step=next_step,
        evidence=evidence,
    )


def _reasons(known: Evidence, zone: tzinfo) -> Iterator[Found]:
    row = known.row
    if row.state in FINISHED:
        yield _finished(known)
    if row.state == "running":
        yield _running(known, zone)
    if known.read_only:
        yield "read_only", "The database is read-only, so no job can start.", "minutehand doctor", {}
    if row.state == "offered":
        yield _offered(known)
    if row.state in ("scheduled", "retrying"):
        yield _waiting(known, zone)
    yield from filter(None, (reason(known, zone) for reason in REASONS))


def _finished(known: Evidence) -> Found:
    row = known.row
    ended = row.deleted or known.now
    cause = _cause(row)
    outcome = OUTCOMES.get(row.state, f"ended as {row.state}")
    sentence = f"It {outcome} {span(known.now - ended)} ago, after {attempts(row.attempts)}{cause}."
    again = f"minutehand retry {row.id}" if row.state != "done" else ""
    return "finished", sentence, again, {"finished": ended}


def _cause(row: Row) -> str:
    """Return the error with which a job ended. A done job may still have that of an earlier attempt."""
    if not row.error or (row.state == "done" and not row.stage):
        return ""
    return f"{', but with an error' if row.stage else ''}: {_clause(row.error)}"


def _running(known: Evidence, zone: tzinfo) -> Found:
    row = known.row
    started = row.claimed or known.now
    stop = f" Cancellation was requested: {row.cancelling}." if row.cancelling is not None else ""
    sentence = (
        f"A worker has been running it for {span(known.now - started)}, in attempt {row.attempts} of "
        f"{row.max_attempts}; its lease ends at {time_in(row.visible, zone)}.{stop}"
    )
    return "running", sentence, "", {"claimed": started, "lease_ends": row.visible}


def _offered(known: Evidence) -> Found:
    row = known.row
    since = known.now - (row.offered or known.now)
    evidence = {"offered": row.offered, "offer_ends": row.visible}
    sentence = f"A worker was invoked {span(since)} ago and has not claimed it yet"
    if since < SLOW_OFFER:
        return "offered", f"{sentence}.", "", evidence
    return (
        "offered",
        f"{sentence}: Lambda throttles the worker function, or it fails before it claims; "
        f"the job is due again in {span(row.visible - known.now)}.",
        "see the worker's alarm and log, and its reserved concurrency",
        evidence,
    )


def _awaiting(known: Evidence) -> Found:
    row, (first, state) = known.row, known.awaited[0]
    others = len(known.awaited) - 1
    rest = f", and {others} other{'s' if others > 1 else ''}" if others else ""
    evidence = {"awaited": [str(each) for each, _ in known.awaited]}
    if state in FINISHED or state is None:
        ended = f"ended as {state}" if state else "was deleted"
        sentence = f"It runs after job {first}, which {ended}{rest}, and waits for a retry."
        step = f"minutehand retry {first}, or to run it now: minutehand promote {row.id}"
        return "waiting", sentence, step, evidence
    sentence = f"It runs after job {first}, which is {state}{rest}."
    return "waiting", sentence, f"minutehand why {first}", evidence


def _waiting(known: Evidence, zone: tzinfo) -> Found:
    if known.awaited:
        return _awaiting(known)
    row = known.row
    at = f"{time_in(row.visible, zone)}, in {span(row.visible - known.now)}"
    pause = f" It is also paused ({known.pause.scope})." if known.pause else ""
    evidence = {"visible": row.visible, "paused": bool(known.pause)}
    promote = f"to run it now: minutehand promote {row.id}"
    if row.state == "scheduled" and row.error:
        return _released(row, f"{at}.{pause}", evidence)
    if row.state == "scheduled":
        return "scheduled", f"It is scheduled for {at}.{pause}", promote, evidence
    cause = f" failed: {_clause(row.error)}" if row.error else " did not finish"
    sentence = f"Attempt {row.attempts} of {row.max_attempts}{cause}; it runs again at {at}.{pause}"
    return "retrying", sentence, promote, evidence


def _clause(error: Mapping[str, str]) -> str:
    """Return an error as a part of a sentence, which has its own period."""
    return error_line(error).rstrip(".")


def _released(row: Row, again: str, evidence: dict[str, Any]) -> Found:
    """Return why a worker gave a job back without an attempt."""
    error = row.error or {}
    sentence = f"A worker could not run it: {_clause(error)}; it is offered again at {again}"
    if error.get("type") == "UnknownKindError":
        step = f"deploy a worker with a handler for {row.kind}, or: minutehand delete {row.id}"
        return "no_handler", sentence, step, evidence
    return "released", sentence, f"minutehand show {row.id}", evidence
