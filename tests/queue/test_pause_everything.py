"""Everything can be paused: no job of any queue starts until it is resumed, and other pauses are independent of it."""

from datetime import UTC, datetime, timedelta
from shlex import split

import pytest

from minutehand import InvalidJobError
from minutehand.operations.audit import list_audit
from minutehand.operations.controls import limit, list_controls, pause, pause_of_everything, resume
from minutehand.queries.why import why
from minutehand.settings import Settings
from minutehand.tick import tick
from tests.queue.stage import Queue
from tests.queue.test_pause import Post

PAST = datetime(2001, 1, 1, tzinfo=UTC)


def taken(queue: Queue) -> list[str]:
    return [job.queue for name in ("mail", "default") for job in queue.take(10, name)]


def test_no_job_is_offered_taken_or_due_while_everything_is_paused(queue: Queue) -> None:
    queue.enqueue(queue="mail", tenant="acme")
    queue.enqueue("slow", key="ada")
    pause(queue.database, everything=True)
    post, settings = Post(), Settings(capacity=50, chunk=1, offer_ttl=timedelta(minutes=2))

    assert (taken(queue), queue.offer(), tick(queue.database, post, settings).due) == ([], [], {})
    assert resume(queue.database, everything=True)
    assert taken(queue) == ["mail", "default"]


def test_unclaimed_offers_are_recalled_and_running_jobs_continue(queue: Queue) -> None:
    running, _ = queue.claimed(), queue.enqueue(queue="mail")
    offers = queue.offer()
    pause(queue.database, everything=True)

    assert queue.claim(*offers) == []
    assert queue.row(running.id).state == "running"


def test_pauses_of_everything_and_of_a_queue_are_independent(queue: Queue) -> None:
    for name in ("mail", "default"):
        queue.enqueue(queue=name)
    pause(queue.database, queue="mail")
    pause(queue.database, everything=True)

    assert resume(queue.database, everything=True)
    assert not resume(queue.database, everything=True)
    assert taken(queue) == ["default"]
    pause(queue.database, everything=True)
    assert resume(queue.database, queue="mail")
    assert taken(queue) == []


def test_pause_of_everything_is_found_until_it_ends(queue: Queue) -> None:
    limit(queue.database, 1, queue="mail")
    pause(queue.database, queue="mail")
    assert pause_of_everything(queue.database) is None

    pause(queue.database, everything=True, reason="upgrade")
    found = pause_of_everything(queue.database)
    assert found and (found.scope, found.reason, found.until) == ("all jobs", "upgrade", None)
    pause(queue.database, everything=True, until=PAST)
    assert pause_of_everything(queue.database) is None


def test_pause_of_everything_is_audited(direct_queue: Queue) -> None:
    pause(direct_queue.database, everything=True, actor="ada")
    resume(direct_queue.database, everything=True, actor="bob")

    assert [(each.actor, each.verb) for each in list_audit(direct_queue.database)] == [
        ("bob", "resume"),
        ("ada", "pause"),
    ]


def test_everything_and_a_scope_exclude_each_other(direct_queue: Queue) -> None:
    for call in (pause, resume):
        with pytest.raises(InvalidJobError, match="expected everything or a scope of queue, kind"):
            call(direct_queue.database, everything=True, queue="mail")
    assert list_controls(direct_queue.database) == []


def test_command_that_ends_a_pause_is_quoted_for_a_shell(queue: Queue) -> None:
    pause(queue.database, group="a $b's")

    answer = why(queue.database, queue.enqueue(group="a $b's"))

    assert split(answer.next_step) == ["minutehand", "resume", "--group", "a $b's"]
