"""Why, for jobs with a group and under rates: which rule holds a job back, until when, and what to do."""

import shlex
from uuid import UUID

import pytest

from minutehand import Job, RetryAfter
from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.operations.controls import limit
from minutehand.queries.why import why
from tests.queue.stage import LONG, Queue
from tests.queue.test_breakers import OVER, broken
from tests.queue.test_why import HOUR, TICKED, Case

ERROR = {"type": "ValueError", "message": "no"}


def busy_group(queue: Queue) -> UUID:
    queue.claimed(group="acme")
    return queue.enqueue(group="acme")


def full_group(queue: Queue) -> UUID:
    limit(queue.database, 2, per="group", queue="default")
    for _ in range(2):
        queue.claimed(group="acme")
    queue.claimed(group="acme", tenant="other")
    return queue.enqueue(group="acme")


def full_group_by_name(queue: Queue) -> UUID:
    limit(queue.database, 2, per="group")
    limit(queue.database, 1, group="acme")
    return busy_group(queue)


def full_key(queue: Queue) -> UUID:
    limit(queue.database, 1, per="key")
    queue.claimed(key="k")
    return queue.enqueue(key="k")


def full_tenant(queue: Queue) -> UUID:
    limit(queue.database, 1, per="tenant")
    queue.claimed(tenant="acme")
    return queue.enqueue(tenant="acme")


def rated(queue: Queue) -> UUID:
    limit(queue.database, kind="echo", rate=1, period=HOUR)
    queue.claimed()
    return queue.enqueue()


def rated_group(queue: Queue) -> UUID:
    limit(queue.database, 9, per="group", rate=1, period=HOUR)
    return busy_group(queue)


def open_breaker(queue: Queue) -> UUID:
    broken(queue)
    return queue.enqueue(group="a")


def half_open_breaker(queue: Queue) -> UUID:
    broken(queue)
    queue.sql(OVER)
    queue.take()
    return queue.enqueue(group="a")


def slowed(queue: Queue) -> UUID:
    def handler(_: Job) -> None:
        raise RetryAfter(HOUR)

    queue.attempt(handler, group="acme")
    return queue.enqueue(group="acme")


def blocked(queue: Queue) -> UUID:
    limit(queue.database, 1, per="group", in_order=True, on_dead="block")
    finish(queue.claimed(group="acme"), Failed(ERROR, final=True))
    return queue.enqueue(group="acme")


def in_order(queue: Queue) -> UUID:
    limit(queue.database, 1, per="group", in_order=True)
    finish(queue.claimed(group="acme"), Failed(ERROR, LONG))
    return queue.enqueue(group="acme")


def free_group(queue: Queue) -> UUID:
    limit(queue.database, 2, per="group", rate=5, period=HOUR, break_after=3)
    return busy_group(queue)


CASES = [
    Case(
        busy_group, "limited", "Its group runs 1 of 1 at once (group acme;", "minutehand ls --queue default"
    ),
    Case(full_group, "limited", "Its group runs 2 of 2 at once (group acme;", "minutehand controls"),
    Case(full_group_by_name, "limited", "The limit of 1 for group acme is reached", "minutehand controls"),
    Case(full_key, "limited", "Its key runs 1 of 1 at once (key k;", "minutehand controls"),
    Case(full_tenant, "limited", "Its tenant runs 1 of 1 at once (tenant acme;", "minutehand controls"),
    Case(
        rated,
        "rate",
        "The rate of 1 starts in 3600 s for kind echo is used up; the next job starts at",
        "controls",
    ),
    Case(rated_group, "rate", "for each group is used up", "minutehand controls"),
    Case(
        open_breaker,
        "breaker",
        "Its group a failed 2 times in a row, so its breaker has been open since",
        "--group a",
    ),
    Case(half_open_breaker, "breaker", "one of its jobs is running to try again", "--group a"),
    Case(
        slowed,
        "retry_after",
        "group acme raised RetryAfter; no job of the group starts before",
        "minutehand unblock acme --queue default",
    ),
    Case(
        blocked,
        "blocked",
        "Its group acme runs in order, and has been blocked since",
        "minutehand unblock acme",
    ),
    Case(in_order, "in_order", "comes before it, which runs again at", "minutehand why "),
    Case(free_group, "next_tick", "is the next of its queue"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.arrange.__name__)
def test_why_names_the_rule_that_holds_the_job_back(queue: Queue, case: Case) -> None:
    queue.sql(TICKED)
    answer = why(queue.database, case.arrange(queue))

    assert (answer.reason, case.sentence in answer.sentence) == (case.reason, True), answer.sentence
    assert case.next_step in answer.next_step
    assert bool(answer.next_step) == bool(case.next_step)


def test_why_quotes_the_name_of_a_group_in_commands(queue: Queue) -> None:
    queue.sql(TICKED)
    limit(queue.database, 1, per="group", in_order=True, on_dead="block")
    finish(queue.claimed(group="a & b"), Failed(ERROR, final=True))
    waiting = queue.enqueue(group="a & b")
    words = shlex.split(why(queue.database, waiting).next_step.partition("it: ")[2])

    assert words == ["minutehand", "unblock", "a & b", "--queue", "default"]


def test_why_has_the_evidence_of_an_open_breaker(queue: Queue) -> None:
    queue.sql(TICKED)
    answer = why(queue.database, open_breaker(queue))

    (row,) = queue.sql("select opened, open_until from minutehand.breakers")
    assert answer.evidence == {
        "group": "a",
        "failures": 2,
        "opened": row["opened"],
        "next_probe": row["open_until"],
    }
