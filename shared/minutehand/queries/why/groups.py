"""What holds back the group of a due job: a dead job, a breaker, RetryAfter, or its order."""

from datetime import tzinfo

from minutehand.queries.commands import quoted
from minutehand.queries.why.evidence import Evidence, Found
from minutehand.queries.why.words import time_in


def _blocked(known: Evidence, zone: tzinfo) -> Found | None:
    row, group = known.row, known.group
    if group is None or group.dead is None:
        return None
    return (
        "blocked",
        f"Its group {row.group} runs in order, and has been blocked since {time_in(group.dead_since, zone)}, "
        f"because job {group.dead} is dead.",
        f"minutehand retry {group.dead}; to go on without it: {_unblock(known)}",
        {"group": row.group, "dead": str(group.dead), "since": group.dead_since},
    )


def _broken(known: Evidence, zone: tzinfo) -> Found | None:
    row, group = known.row, known.group
    if group is None or group.opened is None or not (group.until or (group.half_open and group.busy)):
        return None
    probe = f"one of its jobs starts at {time_in(group.until, zone)} to try again"
    if group.until is None:
        probe = "one of its jobs is running to try again"
    return (
        "breaker",
        f"Its group {row.group} failed {group.failures} times in a row, so its breaker has been open since "
        f"{time_in(group.opened, zone)}; {probe}.",
        _failing(known),
        {"group": row.group, "failures": group.failures, "opened": group.opened, "next_probe": group.until},
    )


def _slowed(known: Evidence, zone: tzinfo) -> Found | None:
    row, group = known.row, known.group
    if group is None or group.until is None:
        return None
    return (
        "retry_after",
        f"An attempt of its group {row.group} raised RetryAfter; no job of the group starts before "
        f"{time_in(group.until, zone)}.",
        f"{_failing(known)}; to start them now: {_unblock(known)}",
        {"group": row.group, "until": group.until},
    )


def _unblock(known: Evidence) -> str:
    row = known.row
    tenant = f" --of-tenant {row.tenant}" if row.tenant else ""
    group = row.group or ""
    # What begins with a hyphen is an option, unless it follows two of them.
    if group.startswith("-"):
        return f"minutehand unblock --queue {row.queue}{tenant} -- {quoted(group)}"
    return f"minutehand unblock {quoted(group)} --queue {row.queue}{tenant}"


def _failing(known: Evidence) -> str:
    row = known.row
    jobs = f"--queue {row.queue} --group {quoted(row.group or '')}"
    return f"to see the error: minutehand ls {jobs} --state retrying --state dead"


def _ordered(known: Evidence, zone: tzinfo) -> Found | None:
    row, group = known.row, known.group
    if group is None or group.first in (None, row.id):
        return None
    due = ""
    if group.first_visible and group.first_visible > known.now:
        due = f", which runs again at {time_in(group.first_visible, zone)}"
    return (
        "in_order",
        f"Its group {row.group} runs in order, and job {group.first} comes before it{due}.",
        f"minutehand why {group.first}",
        {"group": row.group, "first": str(group.first), "visible": group.first_visible},
    )


GROUP_REASONS = (_blocked, _broken, _slowed, _ordered)
