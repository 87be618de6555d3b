"""A key has one upcoming job in its queue: replace it, ignore the new job, or raise. A running job is not changed."""

from datetime import timedelta
from typing import Any

import pytest

from minutehand import Enqueued, KeyTakenError, Retry, enqueue
from minutehand.finish import finish
from minutehand.model.new_job import OnConflict
from minutehand.model.outcome import Done, Failed
from minutehand.operations.jobs import retry
from tests.queue.stage import LONG, Queue
from tests.retries import IN_AN_HOUR

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def enqueue_again(queue: Queue, payload: object = "new", **options: Any) -> Enqueued:
    return enqueue("echo", payload, key="report", connection=queue.database, **options)  # type: ignore[arg-type]


def test_job_with_a_free_key_is_created_in_every_mode(queue: Queue) -> None:
    modes: list[OnConflict] = ["replace", "ignore", "raise"]
    made = [enqueue("echo", key=mode, on_conflict=mode, connection=queue.database) for mode in modes]

    assert [item.outcome for item in made] == ["created"] * 3


def test_replace_updates_the_upcoming_job_and_keeps_its_id(queue: Queue) -> None:
    old = queue.enqueue(
        "old", "old", key="report", delay=LONG, priority=1, max_attempts=2, headers={"a": "b"}
    )
    before = queue.row(old)
    made = enqueue_again(queue, priority=9, retry=Retry(strategy="fixed"), timeout=timedelta(seconds=5))

    row = queue.row(old)
    assert (made.id, made.outcome) == (old, "replaced")
    assert (row.kind, row.payload, row.priority, row.max_attempts, row.headers) == ("echo", "new", 9, 8, None)
    assert (row.retry or {})["strategy"] == "fixed"
    assert row.timeout == timedelta(seconds=5)
    assert (row.state, row.visible) == ("due", made.visible)
    assert row.enqueued > before.enqueued


def test_ignore_leaves_the_upcoming_job_unchanged(queue: Queue) -> None:
    old = queue.enqueue("old", "old", key="report", delay=LONG)
    before = queue.row(old)
    made = enqueue_again(queue, on_conflict="ignore")

    assert (made.id, made.outcome, made.visible) == (old, "ignored", before.visible)
    assert queue.row(old) == before


def test_raise_leaves_the_upcoming_job_unchanged(queue: Queue) -> None:
    old = queue.enqueue("old", "old", key="report", delay=LONG)
    before = queue.row(old)
    with pytest.raises(KeyTakenError, match="queue 'default' has an upcoming job with key 'report'"):
        enqueue_again(queue, on_conflict="raise")

    assert queue.row(old) == before


def test_replace_voids_an_offer_in_flight(queue: Queue) -> None:
    queue.enqueue(key="report")
    (offered,) = queue.offer()
    made = enqueue_again(queue)

    assert queue.claim(offered) == []
    assert [(job.id, job.payload) for job in queue.take()] == [(made.id, "new")]


def test_ignore_keeps_an_offer_in_flight(queue: Queue) -> None:
    queue.enqueue(payload="old", key="report")
    (offered,) = queue.offer()
    enqueue_again(queue, on_conflict="ignore")

    assert [job.payload for job in queue.claim(offered)] == ["old"]


def test_replace_resets_the_attempts_of_a_retrying_job(queue: Queue) -> None:
    job = queue.claimed(key="report")
    finish(job, Failed(ERROR, delay=LONG))
    made = enqueue_again(queue)

    row = queue.row(job.id)
    assert (made.id, made.outcome) == (job.id, "replaced")
    assert (row.attempts, row.error, row.state) == (0, None, "due")


@pytest.mark.parametrize("on_conflict", ["replace", "ignore", "raise"])
def test_running_job_is_not_replaced_and_a_new_job_is_created(queue: Queue, on_conflict: str) -> None:
    running = queue.claimed(payload="old", key="report")
    before = queue.row(running.id)
    made = enqueue_again(queue, on_conflict=on_conflict)

    assert made.outcome == "created"
    assert made.id != running.id
    assert queue.row(running.id) == before
    assert enqueue_again(queue, on_conflict="ignore").id == made.id
    assert finish(running, Done()).ending == "done"
    assert [job.id for job in queue.take(10)] == [made.id]


def test_finished_job_frees_its_key(queue: Queue) -> None:
    job = queue.claimed(key="report")
    finish(job, Done('"first"'))
    made = enqueue_again(queue, on_conflict="raise")

    assert made.outcome == "created"
    assert queue.row(job.id).result == "first"


def test_key_is_scoped_by_queue(queue: Queue) -> None:
    ids = {queue.enqueue(queue=name, key="report") for name in ("a", "b", "default")}

    assert len(ids) == 3


def test_keys_are_compared_exactly(queue: Queue) -> None:
    keys = ["report", "Report", " report", "report ", "réport", "re\u0301port", "r\u00e9port", "100%", "1_0"]

    assert len({queue.enqueue(key=key) for key in keys}) == len(set(keys)) == 8


def test_crashed_job_and_newer_job_of_its_key_both_run(queue: Queue) -> None:
    crashed = queue.claimed(payload="old", key="report")
    queue.pass_time(crashed.id)
    made = enqueue_again(queue, on_conflict="raise")

    seen: list[object] = []
    # A job whose claim lapsed is taken alone.
    queue.work(seen.append)
    queue.work(seen.append)
    assert seen == ["old", "new"]
    assert [queue.row(job_id).state for job_id in (crashed.id, made.id)] == ["done", "done"]


def test_failed_job_is_superseded_by_the_running_job_of_its_key(queue: Queue) -> None:
    crashed = queue.claimed(payload="old", key="report")
    queue.pass_time(crashed.id)
    made = enqueue_again(queue, retry=IN_AN_HOUR)
    (old,), (new,) = queue.take(), queue.take()

    assert finish(old, Failed(ERROR)).ending == "superseded"
    assert finish(new, Failed(ERROR)).ending == "retrying"
    assert [queue.row(job_id).state for job_id in (crashed.id, made.id)] == ["cancelled", "retrying"]


def test_failed_job_is_superseded_by_the_upcoming_job_of_its_key(queue: Queue) -> None:
    failed = queue.claimed(payload="old", key="report")
    made = enqueue_again(queue)

    assert finish(failed, Failed(ERROR)).ending == "superseded"
    row = queue.row(failed.id)
    assert (row.state, row.error and row.error["type"]) == ("cancelled", "Superseded")
    assert [job.id for job in queue.take(2)] == [made.id]


@pytest.mark.fault(
    "functions/put_all",
    r"or j.attempts = 0 and minutehand.expires_at\(j.run_at, j.expires\) <= moment",
    r"or minutehand.expires_at(j.run_at, j.expires) <= moment",
)
def test_retrying_job_keeps_its_key_after_its_expiry(queue: Queue) -> None:
    job = queue.claimed(key="report", expires=LONG)
    finish(job, Failed(ERROR, delay=LONG))
    queue.sql("update minutehand.jobs_live set run_at = run_at - interval '1 day'")

    assert enqueue_again(queue, on_conflict="ignore").outcome == "ignored"


REGAIN = r"(function minutehand.regain_key.*?)j.tenant = of_tenant and j.queue = in_queue and"


@pytest.mark.fault("functions/superseded", REGAIN, r"\1j.tenant = of_tenant and")
@pytest.mark.fault("functions/superseded", REGAIN, r"\1j.queue = in_queue and")
def test_dead_job_is_retried_while_its_key_runs_elsewhere(queue: Queue) -> None:
    dead = queue.claimed(key="report")
    finish(dead, Failed(ERROR, final=True))
    queue.claimed(key="report", queue="other")
    queue.claimed(key="report", tenant="acme")

    assert [change.outcome for change in retry(queue.database, [dead.id])] == ["changed"]


def test_concurrent_enqueues_of_a_key_leave_one_job(queue: Queue) -> None:
    def enqueuer(number: int) -> list[Enqueued]:
        database = queue.another()
        return [enqueue("echo", number, key="report", connection=database) for _ in range(10)]

    made = [item for future in [queue.start(enqueuer, n) for n in range(8)] for item in future.result()]

    assert len({item.id for item in made}) == 1
    assert sorted(item.outcome for item in made) == ["created"] + ["replaced"] * 79


def test_one_of_many_concurrent_enqueues_creates_the_job(queue: Queue) -> None:
    def enqueuer() -> str:
        try:
            return enqueue("echo", key="report", on_conflict="raise", connection=queue.another()).outcome
        except KeyTakenError:
            return "taken"

    assert (
        sorted(future.result() for future in [queue.start(enqueuer) for _ in range(8)])
        == ["created"] + ["taken"] * 7
    )
