"""The checker: knows the rules of flow control and a ledger, and nothing of the product's code or tables.

The effect of a call took place at some time of its span. A check reports only what is wrong for all of these times.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Any
from uuid import UUID

from tests.queue.flow.ledger import End, Known, Ledger, Place, Run, Span

FAILURES = ("retrying", "dead")


def most_at_once(runs: Iterable[Run]) -> int:
    """Return how many attempts ran at the same time: from the return of the start to the call of the end or lapse."""
    changes = sorted(
        change
        for run in runs
        for change in ((run.start.ended, 1), (run.until.began, -1))
        if run.start.ended < run.until.began
    )
    count = most = 0
    for _, change in changes:
        count += change
        most = max(most, count)
    return most


def beyond_limit(ledger: Ledger, runs: Iterable[Run], **limit: Any) -> list[str]:
    """Return the tenants, keys or queues of which more jobs ran at the same time than a limit allows."""
    parts: dict[tuple[str, ...], list[Run]] = defaultdict(list)
    for run in runs:
        if part := _part(ledger.jobs[run.job], limit):
            parts[part].append(run)
    most = {part: most_at_once(each) for part, each in parts.items()}
    return [f"{limit}: {part}: {count} at once" for part, count in most.items() if count > limit["limit"]]


def _part(job: Known, limit: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the tenant, key or queue of a job that a limit counts; none if the limit does not apply to the job."""
    if any(getattr(job, name) != limit[name] for name in ("queue", "tenant") if name in limit):
        return None
    match limit.get("per"):
        case "tenant":
            return (job.tenant,) if job.tenant else None
        case "key":
            return (job.tenant, job.queue, job.key) if job.key else None
    return (job.queue,)


def out_of_order(ledger: Ledger, runs: Sequence[Run]) -> list[UUID]:
    """Return the jobs that started before an earlier one of their ordered group had ended."""
    found, latest = [], -inf
    first, last = _first_starts(runs), _last_ends(runs)
    for job in sorted(first, key=lambda each: ledger.jobs[each].number):
        # A successor takes its place when it is released, and transactions may commit in another order.
        if ledger.jobs[job].after or ledger.jobs[job].added:
            continue
        found += [job] if first[job].ended < latest else []
        latest = max(latest, last[job].span.began)
    return found


def too_early(ledger: Ledger, runs: Sequence[Run]) -> list[UUID]:
    """Return the jobs that started before a predecessor had ended."""
    first, last = _first_starts(runs), _last_ends(runs)
    return [
        job
        for job, start in first.items()
        # A cancelled predecessor had no attempt.
        if any(each in last and start.ended < last[each].span.began for each in ledger.jobs[job].after)
    ]


def started_while_held(runs: Sequence[Run], lifts: Sequence[Span], break_after: int | None) -> list[UUID]:
    """Return the jobs that started while their group's breaker was open, or while `RetryAfter` held it."""
    windows = [*_holds(runs, lifts), *(_opens(runs, lifts, break_after) if break_after else ())]
    return [run.job for run in runs if any(_within(run.start, window) for window in windows)]


def second_probes(runs: Sequence[Run], break_after: int) -> list[UUID]:
    """Return the jobs that started next to another one while their group's breaker was not closed."""
    return [
        run.job
        for end, failures in _rows(runs)
        if len(failures) >= break_after
        for run in runs
        if _within(run.start, Span(sorted(each.ended for each in failures)[break_after - 1], end))
        and any(_together(run, other) and other.start.ended <= end for other in runs if other is not run)
    ]


def beyond_rate(runs: Sequence[Run], rate: float, burst: int) -> list[UUID]:
    """Return the jobs with which more started in some time than the rate and its burst allow."""
    return [
        last.job
        for first in runs
        for last in runs
        if first.start.began <= last.start.began
        and sum(_within(run.start, Span(first.start.began, last.start.ended)) for run in runs)
        > burst + rate * (last.start.ended - first.start.began) + 1
    ]


def _first_starts(runs: Sequence[Run]) -> dict[UUID, Span]:
    return {run.job: run.start for run in reversed(runs)}


def _last_ends(runs: Sequence[Run]) -> dict[UUID, End]:
    return {run.job: run.end for run in sorted(runs, key=lambda run: run.end.span)}


def _within(span: Span, window: Span) -> bool:
    return window.began <= span.began and span.ended <= window.ended


def _together(one: Run, other: Run) -> bool:
    """Whether two attempts certainly ran at the same time."""
    return one.start.ended < other.until.began and other.start.ended < one.until.began


def _until_lifted(since: float, lifts: Sequence[Span]) -> float:
    """Return the time until which nothing can have ended a wait that began at `since` or later."""
    return min((lift.began for lift in lifts if lift.ended >= since), default=inf)


def _holds(runs: Sequence[Run], lifts: Sequence[Span]) -> Iterator[Span]:
    for run in runs:
        if run.end.held:
            yield Span(run.end.span.ended, _until_lifted(run.end.span.began, lifts))


def _opens(runs: Sequence[Run], lifts: Sequence[Span], break_after: int) -> Iterator[Span]:
    """Yield when a breaker is open: after enough failures in a row, and each further one, until it is lifted."""
    for end, failures in _rows(runs):
        for failure in failures:
            counted = [each for each in failures if each.ended <= failure.ended]
            if len(counted) >= break_after:
                until = _until_lifted(max(each.began for each in counted), lifts)
                yield Span(failure.ended, min(end, until))


def _rows(runs: Sequence[Run]) -> Iterator[tuple[float, list[Span]]]:
    """Yield the failures between successes, with the time of the next success."""
    successes = sorted(run.end.span for run in runs if run.end.ending == "done")
    failures = [run.end.span for run in runs if run.end.ending in FAILURES]
    begin = -inf
    for success in [*successes, Span(inf, inf)]:
        window = Span(begin, success.began)
        yield success.began, [each for each in failures if _within(each, window)]
        begin = max(begin, success.ended)


def _evidence(runs: Sequence[Run]) -> str:
    return "\n".join(f"    {run}" for run in runs)


def check(ledger: Ledger, place: Place, runs: Sequence[Run], **rules: int) -> list[str]:
    """Return what is wrong with a group whose limit declares these rules."""
    lifts, break_after = ledger.lifts[place], rules.get("break_after")
    wrong = {
        "out of order": out_of_order(ledger, runs) if rules.get("in_order") else [],
        "held": started_while_held(runs, lifts, break_after),
        "second probes": second_probes(runs, break_after) if break_after else [],
        "beyond the rate": beyond_rate(runs, rules["rate"], rules["burst"]) if "rate" in rules else [],
    }
    most = most_at_once(runs)
    found = [f"{place}: {rule}: {jobs}\n{_evidence(runs)}" for rule, jobs in wrong.items() if jobs]
    return found + ([f"{place}: {most} at once"] if most > rules["limit"] else [])
