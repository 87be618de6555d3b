"""Edit and delete upcoming jobs."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from minutehand import InvalidJobError, NewJob, PayloadError, Retry
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.audit import list_audit
from minutehand.operations.deletion import count_upcoming, delete, delete_upcoming
from minutehand.operations.edit import edit
from minutehand.operations.jobs import cancel
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def test_edited_job_runs_with_its_new_values(queue: Queue) -> None:
    job_id = queue.enqueue(payload={"to": "ada"}, headers={"a": "1"}, timeout=LONG, max_attempts=2)
    (change,) = edit(
        queue.database,
        [job_id],
        payload={"to": "bob", "amount": 12345678901234567890},
        headers=None,
        timeout=timedelta(seconds=30),
        max_attempts=7,
        retry=Retry(strategy="fixed", min=timedelta(seconds=5)),
    )
    (job,) = queue.take()

    assert change.outcome == "changed"
    assert job.payload == {"to": "bob", "amount": 12345678901234567890}
    assert (job.headers, job.timeout, job.max_attempts) == ({}, timedelta(seconds=30), 7)
    assert job.retry == Retry(strategy="fixed", min=timedelta(seconds=5))


def test_edit_keeps_the_fields_that_are_not_given(queue: Queue) -> None:
    job_id = queue.enqueue(payload=[1.10], headers={"a": "1"}, timeout=LONG, max_attempts=2, priority=3)
    before = queue.row(job_id)
    edit(queue.database, [job_id], priority=4)

    after = queue.row(job_id)
    assert after.priority == 4
    assert {**vars(after), "priority": 3} == vars(before)


def test_edit_changes_and_removes_expires_and_on_dead(queue: Queue) -> None:
    job_id = queue.enqueue(expires=LONG)
    edit(queue.database, [job_id], expires=2 * LONG, on_dead="alert")
    changed = queue.sql(
        "select expires, on_dead, minutehand.expires_at(run_at, expires) - run_at as after from minutehand.jobs"
    )
    edit(queue.database, [job_id], expires=None, on_dead=None)
    removed = queue.sql(
        "select expires, on_dead, minutehand.expires_at(run_at, expires) as after from minutehand.jobs"
    )

    assert changed == [{"expires": 2 * LONG, "on_dead": {"kind": "alert"}, "after": 2 * LONG}]
    assert removed == [{"expires": None, "on_dead": None, "after": None}]
    assert [entry.facts["was_expires"] for entry in list_audit(queue.database)] == ["0:20:00", "0:10:00"]


@pytest.mark.parametrize("claimed", [True, False], ids=["running", "finished"])
def test_running_or_finished_job_is_not_edited(queue: Queue, claimed: bool) -> None:
    job = queue.claimed(payload="before")
    if not claimed:
        finish(job, Done())
    (change,) = edit(queue.database, [job.id], payload="after")

    assert (change.outcome, change.state) == ("refused", "running" if claimed else "done")
    assert queue.row(job.id).payload == "before"
    assert list_audit(queue.database, verb="edit") == []


def test_offered_job_is_claimed_with_its_edited_payload(queue: Queue) -> None:
    job_id = queue.enqueue(payload="before")
    offers = queue.offer()
    edit(queue.database, [job_id], payload="after")

    assert [job.payload for job in queue.claim(*offers)] == ["after"]


def test_late_worker_cannot_finish_an_edited_job(queue: Queue) -> None:
    late = queue.claimed(payload="before")
    queue.pass_time(late.id)
    (change,) = edit(queue.database, [late.id], payload="after")

    assert change.outcome == "changed"
    assert finish(late, Done()).ending == "lost"
    assert [job.payload for job in queue.take()] == ["after"]


def test_edited_priority_takes_effect_immediately(queue: Queue) -> None:
    first, second = queue.enqueue(), queue.enqueue()
    queue.sql(
        "insert into minutehand.lanes (queue, priority, floor) values ('default', 9, now() + interval '1 minute')"
    )
    edit(queue.database, [second], priority=9)

    assert [job.id for job in queue.take(1)] == [second]
    assert [job.id for job in queue.take(1)] == [first]


def test_edit_must_leave_an_attempt(queue: Queue) -> None:
    job = queue.claimed(max_attempts=3)
    finish(job, Failed(ERROR, delay=LONG))

    assert [each.outcome for each in edit(queue.database, [job.id], max_attempts=1)] == ["refused"]
    assert [each.outcome for each in edit(queue.database, [job.id], max_attempts=2)] == ["changed"]


@pytest.mark.parametrize(
    ("edits", "rule"),
    [
        ({}, "edit_is_not_empty"),
        ({"priority": 10}, "priority_is_0_to_9"),
        ({"priority": None}, "priority_is_required"),
        ({"max_attempts": 0}, "max_attempts_is_at_least_1"),
        ({"headers": {"a": 1}}, "headers_are_strings"),
        ({"timeout": timedelta()}, "timeout_is_positive"),
        ({"expires": timedelta()}, "expires_is_positive"),
        ({"on_dead": NewJob("alert", delay=LONG)}, "on_dead_is_a_job"),
        ({"retry": "often"}, "retry_is_a_strategy"),
        ({"payload": "x" * 300_000}, "payload_fits"),
        ({"payload": float("nan")}, "payload_is_json"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_edit_refuses_what_enqueue_refuses(direct_queue: Queue, edits: dict[str, Any], rule: str) -> None:
    job_id = direct_queue.enqueue(payload="before")
    with pytest.raises(InvalidJobError) as refused:
        edit(direct_queue.database, [job_id], **edits)

    assert refused.value.rule == rule
    assert isinstance(refused.value, PayloadError) == rule.startswith("payload")
    assert direct_queue.row(job_id).payload == "before"
    assert list_audit(direct_queue.database) == []


def test_audit_of_an_edit_has_previous_values_and_no_payload(
    queue: Queue,
) -> None:
    job_id = queue.enqueue(payload="secret one", priority=3, headers={"h": "secret two"})
    edit(
        queue.database,
        [job_id],
        payload="secret three",
        headers={"h": "secret four"},
        priority=4,
        actor="ada",
    )

    (entry,) = list_audit(queue.database)
    assert (entry.actor, entry.verb, entry.job) == ("ada", "edit", job_id)
    assert entry.facts == {"fields": ["headers", "payload", "priority"], "was_priority": 3}


def test_concurrent_edits_leave_the_values_of_the_last(queue: Queue) -> None:
    job_id = queue.enqueue(payload=-1)
    sessions = [queue.another() for _ in range(8)]
    for each in [
        queue.start(edit, session, [job_id], payload=n, actor=str(n)) for n, session in enumerate(sessions)
    ]:
        assert each.result()[0].outcome == "changed"

    assert queue.row(job_id).payload == int(list_audit(queue.database)[0].actor)


def test_delete_deletes_upcoming_jobs_only(queue: Queue) -> None:
    done, running = queue.claimed(), queue.claimed()
    finish(done, Done())
    upcoming = queue.enqueue(delay=LONG, key="report")
    changes = delete(queue.database, [done.id, running.id, upcoming], actor="ada")

    assert [(change.outcome, change.state) for change in changes] == [
        ("refused", "done"),
        ("refused", "running"),
        ("changed", None),
    ]
    assert ids(queue) == {done.id, running.id}
    (entry,) = list_audit(queue.database)
    assert entry.facts == {"queue": "default", "kind": "echo", "key": "report"}


def test_delete_upcoming_deletes_the_upcoming_jobs_of_one_queue(queue: Queue) -> None:
    running = queue.claimed(queue="mail")
    cancelled, elsewhere = queue.enqueue(queue="mail"), queue.enqueue(queue="other")
    cancel(queue.database, [cancelled])
    for delay in (timedelta(), LONG):
        queue.enqueue(queue="mail", delay=delay)

    assert count_upcoming(queue.database, "mail") == 2
    assert list(delete_upcoming(queue.database, "mail", actor="ada")) == [2]
    assert ids(queue) == {running.id, cancelled, elsewhere}
    (entry,) = list_audit(queue.database, verb="delete")
    assert (entry.actor, entry.facts) == ("ada", {"queue": "mail", "jobs": 2})


def ids(queue: Queue) -> set[UUID]:
    return {row["id"] for row in queue.sql("select id from minutehand.jobs")}
