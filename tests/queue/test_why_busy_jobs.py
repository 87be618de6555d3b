"""Why, for jobs under a reached limit: the jobs that hold its places, and how many of them must end."""

import shlex
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from minutehand.operations.controls import limit
from tests.queue.stage import LONG, Queue
from tests.queue.test_why_limits import (
    MEDIAN,
    ended,
    explained,
    of_a_group,
    of_a_group_without_limit,
    of_a_kind,
    of_a_queue,
    of_a_tenant,
)


def lowered(queue: Queue) -> UUID:
    """Lower a limit to 2 while five jobs run, whose leases end after 10 to 50 minutes."""
    for number in range(1, 6):
        queue.sql(
            "update minutehand.jobs_live set visible = now() + %(rest)s where id = %(id)s",
            id=queue.claimed(payload=number).id,
            rest=number * LONG + timedelta(seconds=30),
        )
    limit(queue.database, 2, kind="echo")
    return queue.enqueue()


def fourth(queue: Queue) -> dict[str, Any]:
    (job,) = queue.sql("select * from minutehand.jobs_live where payload::text = '4'")
    return job


@pytest.mark.fault("why_limited_next", r"offset \(select above from room\)", "offset 0")
def test_why_waits_for_the_jobs_above_a_lowered_limit(queue: Queue) -> None:
    answer = explained(queue, lowered)

    lease = fourth(queue)
    assert (answer.evidence["next_free"], answer.evidence["freed_by"]) == (lease["visible"], str(lease["id"]))
    assert answer.evidence["must_end"] == 4
    assert (
        ", and the next place is free when 4 jobs under the limit have ended, or in 40 min" in answer.sentence
    )


def test_why_estimates_the_end_of_the_jobs_above_a_lowered_limit(queue: Queue) -> None:
    ended(queue, 30)
    answer = explained(queue, lowered)

    assert answer.evidence["next_free"] == fourth(queue)["claimed"] + MEDIAN
    assert (
        " when 4 jobs under the limit have ended (an estimate: the median of 1 job of kind "
        in answer.sentence
    )


def of_a_key_with_spaces(queue: Queue) -> UUID:
    limit(queue.database, 1, per="key")
    queue.claimed(key="ada & bob")
    return queue.enqueue(key="ada & bob")


Naming = tuple[Callable[[Queue], UUID], list[str]]
OF_LIMITS: list[Naming] = [
    (of_a_kind, ["--kind", "echo"]),
    (of_a_group, ["--queue", "default", "--group", "acme"]),
    (of_a_group_without_limit, ["--queue", "default", "--group", "acme"]),
    (of_a_tenant, ["--tenant", "acme"]),
    (of_a_queue, ["--queue", "default"]),
    (of_a_key_with_spaces, ["--queue", "default", "--key", "ada & bob"]),
]


@pytest.mark.parametrize(("arrange", "options"), OF_LIMITS)
def test_why_lists_the_offered_and_running_jobs_under_a_limit(
    queue: Queue, arrange: Callable[[Queue], UUID], options: list[str]
) -> None:
    step = explained(queue, arrange).next_step

    (command, _) = step.removeprefix("to see them: ").split("; to see the limits: ")
    assert shlex.split(command) == ["minutehand", "ls", *options, "--state", "offered", "--state", "running"]
