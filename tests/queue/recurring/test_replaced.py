"""The last enqueue of a key decides whether and how it recurs, whatever becomes of that job meanwhile."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from minutehand import Database, Job
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed
from minutehand.operations.change import Change
from minutehand.operations.deletion import delete
from minutehand.operations.edit import edit
from minutehand.operations.jobs import cancel, promote, replay, reschedule, retry
from tests.queue.recurring.stage import ENDS, recurring, upcoming
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server


def replaced(queue: Queue, key: str = "report", **options: Any) -> tuple[Job, UUID]:
    """Return a recurring job that runs, and a job that was enqueued with its key meanwhile."""
    old = recurring(queue, key=key, payload="old", max_attempts=3)
    return old, queue.enqueue(payload="new", key=key, **options)


def take(queue: Queue, job_id: UUID) -> Job:
    (job,) = queue.take()
    assert job.id == job_id
    return job


def stays(queue: Queue, job_id: UUID) -> None:
    pass


def is_offered(queue: Queue, job_id: UUID) -> None:
    assert [offer.id for offer in queue.offer()] == [job_id]


def runs(queue: Queue, job_id: UUID) -> None:
    take(queue, job_id)


def lapses(queue: Queue, job_id: UUID) -> None:
    take(queue, job_id)
    queue.pass_time(job_id)


def is_done(queue: Queue, job_id: UUID) -> None:
    finish(take(queue, job_id), Done())


def is_dead(queue: Queue, job_id: UUID) -> None:
    finish(take(queue, job_id), ENDS["dead"][0])


def is_cancelled(queue: Queue, job_id: UUID) -> None:
    assert cancel(queue.database, [job_id])[0].outcome == "changed"


def is_deleted(queue: Queue, job_id: UUID) -> None:
    assert delete(queue.database, [job_id])[0].outcome == "changed"


def is_replaced_again(queue: Queue, job_id: UUID) -> None:
    take(queue, job_id)
    queue.enqueue(payload="newest", key="report", every="P1D", delay=LONG)


FATES = [stays, is_offered, runs, lapses, is_done, is_dead, is_cancelled, is_deleted, is_replaced_again]
ENQUEUES: dict[str, dict[str, Any]] = {
    "one-off": {},
    "recurring": {"every": "PT1H", "delay": timedelta()},
    "ignore": {"on_conflict": "ignore"},
    "merge": {"on_conflict": "merge"},
    "throttle": {"throttle": timedelta(microseconds=1)},
    "unique_for": {"unique_for": timedelta(microseconds=1)},
}


@pytest.mark.parametrize("way", ["done", "retried", "transaction"])
@pytest.mark.parametrize("fate", FATES)
def test_replaced_job_neither_recurs_nor_returns(
    queue: Queue, way: str, fate: Callable[[Queue, UUID], None]
) -> None:
    old, new = replaced(queue, **ENQUEUES["recurring"])
    fate(queue, new)
    before = rows(queue, besides=old.id)

    if way == "transaction":
        with old.transaction():
            pass
    else:
        ending = finish(old, ENDS[way][0])
        assert ending.ending == (way if way in ("done", "dead") else "superseded")
        assert ending.next is None

    assert rows(queue, besides=old.id) == before


@pytest.mark.parametrize("options", ENQUEUES.values(), ids=ENQUEUES)
def test_last_enqueue_decides_how_the_key_recurs(queue: Queue, options: dict[str, Any]) -> None:
    old, new_id = replaced(queue, **options)
    new = take(queue, new_id)
    finish(old, Done())
    ended = finish(new, Done())

    assert [(row["payload"], row["every"]) for row in upcoming(queue)] == (
        [("new", "PT1H")] if "every" in options else []
    )
    assert (ended.next is not None) == ("every" in options)


def test_refused_enqueue_does_not_end_the_recurrence(queue: Queue) -> None:
    old, new = replaced(queue, unique_while="running")
    assert new == old.id
    finish(old, Done())

    assert [row["payload"] for row in upcoming(queue)] == ["old"]


def test_enqueue_of_the_same_key_elsewhere_changes_nothing(queue: Queue) -> None:
    old = recurring(queue, key="report", payload="old")
    queue.enqueue(key="report", queue="other")
    queue.enqueue(key="report", tenant="acme")
    finish(old, Done())

    assert "old" in [row["payload"] for row in upcoming(queue)]


def test_worker_that_died_does_not_bring_the_recurrence_back(queue: Queue) -> None:
    old, new = replaced(queue)
    is_done(queue, new)
    queue.sql("update minutehand.jobs_live set attempts = max_attempts")
    queue.pass_time(old.id)
    reaped = run_maintenance(queue.database).reaped

    assert ([row["id"] for row in reaped], upcoming(queue)) == ([old.id], [])


CHANGES: dict[str, Callable[[Database, list[UUID]], list[Change]]] = {
    "promote": promote,
    "reschedule": lambda database, ids: reschedule(database, ids, delay=LONG),
    "edit": lambda database, ids: edit(database, ids, priority=1),
}


@pytest.mark.fault(
    "functions/updates", r"(function minutehand.promote_jobs.*?)case when j.key is not null.*?end", r"\1null"
)
@pytest.mark.fault(
    "functions/updates",
    r"(function minutehand.reschedule_jobs.*?)case when j.key is not null.*?end",
    r"\1null",
)
@pytest.mark.fault(
    "functions/updates", r"(function minutehand.edit_jobs.*?)case when j.key is not null.*?end", r"\1null"
)
def test_lapsed_job_that_was_replaced_does_not_become_upcoming(queue: Queue) -> None:
    for verb, change in CHANGES.items():
        old, new = replaced(queue, key=verb)
        runs(queue, new)
        queue.pass_time(old.id)

        assert [each.outcome for each in change(queue.database, [old.id])] == ["refused"]
        cancel(queue.database, [old.id])
    assert upcoming(queue) == []


@pytest.mark.fault("release", r"case when j\.key is not null.*?end", "null")
def test_replaced_job_is_not_retried_after_the_newer_job_ended(queue: Queue) -> None:
    old, new = replaced(queue)
    is_done(queue, new)

    assert finish(old, ENDS["retried"][0]).ending == "superseded"


@pytest.mark.parametrize("change", [retry, replay])
def test_old_job_does_not_come_back_while_another_runs(queue: Queue, change: Callable[..., Any]) -> None:
    old, new_id = replaced(queue, **ENQUEUES["recurring"])
    finish(old, ENDS["dead"][0])
    new = take(queue, new_id)

    (refused,) = change(queue.database, [old.id])
    assert refused.reason == "another unfinished job has its key"
    assert finish(new, Done()).next is not None


@pytest.mark.parametrize("on_request", [True, False])
@pytest.mark.fault("functions/updates", r"j.cancelled and not exists \(.*?enqueued\)", "j.cancelled")
def test_retry_of_a_superseded_job_does_not_recur(queue: Queue, on_request: bool) -> None:
    old, new = replaced(queue)
    finish(old, ENDS["cancelled"][0] if on_request else ENDS["retried"][0])
    is_done(queue, new)
    assert retry(queue.database, [old.id])[0].outcome == "changed"
    again = take(queue, old.id)

    assert (again.payload, finish(again, Done()).next) == ("old", None)


@pytest.mark.fault(
    "functions/updates", r"(function minutehand.retry_jobs.*?)case when j.key is not null.*?end", r"\1null"
)
def test_retried_job_that_was_superseded_can_be_retried_again(queue: Queue) -> None:
    old, new = replaced(queue)
    finish(old, ENDS["retried"][0])
    is_done(queue, new)
    retry(queue.database, [old.id])

    assert finish(take(queue, old.id), Failed({"type": "E", "message": ""})).ending == "retrying"


def test_retry_of_a_cancelled_job_resumes_its_recurrence(queue: Queue) -> None:
    old = recurring(queue, key="report")
    finish(old, ENDS["cancelled"][0])
    retry(queue.database, [old.id])

    assert finish(take(queue, old.id), Done()).next is not None


@pytest.mark.fault("finish", r"and ended.cancelling is null", "")
def test_cancelled_running_job_does_not_recur_if_it_finishes_first(queue: Queue) -> None:
    old = recurring(queue, key="report")
    assert cancel(queue.database, [old.id], running=True)[0].outcome == "requested"
    finished = finish(old, Done())

    assert (finished.ending, finished.next) == ("done", None)


def test_sweep_deletes_the_marks_of_ended_jobs(direct_queue: Queue) -> None:
    ended, _ = replaced(direct_queue)
    finish(ended, Done())
    runs(direct_queue, upcoming(direct_queue)[0]["id"])
    direct_queue.enqueue(key="report")
    marks = direct_queue.sql("select job from minutehand.superseded")
    direct_queue.database.run("free_keys", now=None)

    assert len(marks) == 2
    assert direct_queue.sql("select job from minutehand.superseded") == [
        mark for mark in marks if mark["job"] != ended.id
    ]


def rows(queue: Queue, besides: UUID) -> list[dict[str, Any]]:
    return queue.sql("select * from minutehand.jobs where id <> %(id)s order by id", id=besides)
