"""The rules of flow control, over the handlers' records.

An attempt runs from its `started` until `free`: the earlier of its `ended` and `lease_ends`. Its handler may be frozen
and go on afterwards, but it owns nothing any more, and another job may run. If the attempt started when its lease had
ended, because its worker was frozen between the claim and the handler, it does not count. `ended` is recorded before
the outcome is written, so an attempt never counts for longer than the queue counts it.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID


def owners(attempts: Collection[Any]) -> list[Any]:
    """Return the attempts that started within their leases, in this order."""
    return sorted(
        (each for each in attempts if each.started < each.lease_ends), key=lambda each: each.started
    )


def too_many(attempts: Collection[Any], most: int) -> Iterator[str]:
    """More than `most` of these attempts ran at the same time."""
    running: list[Any] = []
    for each in owners(attempts):
        running = [other for other in running if other.free > each.started] + [each]
        if len(running) > most:
            yield f"{len(running)} of at most {most} were running at {each.started}"


def out_of_order(attempts: Collection[Any], place: Mapping[UUID, int]) -> Iterator[str]:
    """A job of an ordered group started after one with a later place.

    A job that waits for a retry keeps its place, so this holds for every attempt: when a job has started, no earlier
    one starts any more.
    """
    for first, second in pairwise(owners(attempts)):
        if place[second.job] < place[first.job]:
            yield f"{second.payload} started after {first.payload}"


def too_fast(attempts: Collection[Any], *, rate: float, burst: int, slack: timedelta) -> Iterator[str]:
    """More jobs were claimed in some time than a rate (in starts a second) and its burst allow.

    The queue counts a start when it makes the offer. The worker claims it at most `slack` later. So the claims of some
    time were counted in that time and `slack` before it: at most `burst` and the rate for this time.
    """
    claims = sorted(each.claimed for each in attempts)
    for number, last in enumerate(claims):
        for first in range(number):
            seconds = (last - claims[first] + slack).total_seconds()
            if number - first + 1 > burst + rate * seconds:
                yield f"{number - first + 1} starts from {claims[first]} to {last}"
                break


def while_open(
    attempts: Collection[Any], *, break_after: int, break_for: timedelta, slack: timedelta
) -> Iterator[str]:
    """A job of a group was claimed although enough attempts before it had failed in a row.

    The group runs one job at a time: a claim within the lease of the attempt before proves that its outcome had been
    committed. A claim after this lease proves nothing. The outcome may come later, and a frozen worker may hold the
    lock of the group, so that other outcomes are not counted: until `slack` after the lease, failures do not count.
    """
    failures, unsure = 0, None
    for each, following in pairwise(sorted(attempts, key=lambda each: each.claimed)):
        if following.claimed >= each.lease_ends:
            failures, unsure = 0, each.lease_ends + slack
        elif not each.failed or (unsure and each.claimed < unsure):
            failures = 0
        else:
            failures += 1
            if failures >= break_after and following.claimed < each.ended + break_for:
                yield f"{following.payload} was claimed {following.claimed - each.ended} after {failures} failures"


def wrong_callback(
    name: str,
    jobs: Mapping[UUID, Any],
    calls: Collection[Any],
    effects: Collection[Any],
    endings: Mapping[UUID, Any],
) -> Iterator[str]:
    """A batch has not exactly one accepted callback, or the wrong one, or one that started before all jobs had ended.

    `jobs` are those of the batch, `calls` the attempts at its callbacks, and `effects` those that were accepted.
    """
    failed = any(endings[id].failed for id in jobs if id in endings)
    expected = f"{name}-{'failure' if failed else 'complete'}"
    if [each.payload for each in effects] != [expected]:
        yield f"{name}: expected {expected}, accepted {[each.payload for each in effects]}"
    if len(ids := {each.job for each in calls}) > 1:
        yield f"{name}: {len(ids)} callbacks started"
    for call in calls:
        for id in jobs:
            if id not in endings or endings[id].at > call.started:
                yield f"{name}: {call.payload} started at {call.started}, before {jobs[id].payload} had ended"


def wrong_successor(
    new: Any, attempts: Collection[Any], effects: Collection[Any], endings: Mapping[UUID, Any]
) -> Iterator[str]:
    """A job started before its predecessors had ended, or although one failed, or not although none did."""
    for each in attempts:
        for id in new.after:
            if id not in endings or endings[id].at > each.started:
                yield f"{new.payload} started at {each.started}, before its predecessor {id} had ended"
    failed = any(endings[id].failed for id in new.after if id in endings)
    if (runs := not failed or new.after_failure == "run") != bool(effects):
        yield f"{new.payload}: expected {runs}, done is {bool(effects)}"
