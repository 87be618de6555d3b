"""Keys that stay taken: debounce, throttle, unique_for and unique_while."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import KeyTakenError, enqueue
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed
from tests.queue.keys.stage import enqueue_again
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}

MINUTE = timedelta(minutes=1)


def test_debounce_postpones_the_job_up_to_its_maximum(queue: Queue) -> None:
    first = queue.enqueue(key="k", debounce=MINUTE, debounce_max=10 * MINUTE)
    assert queue.waits(first, MINUTE)
    enqueue_again(queue, debounce=5 * MINUTE, debounce_max=10 * MINUTE)
    assert queue.waits(first, 5 * MINUTE)
    enqueue_again(queue, debounce=LONG * 2, debounce_max=LONG * 3)
    assert queue.waits(first, 10 * MINUTE)


def test_debounced_job_can_be_claimed_after_its_maximum_wait(queue: Queue) -> None:
    options: dict[str, Any] = {"debounce": MINUTE, "debounce_max": LONG}
    first = queue.enqueue(payload=1, key="k", **options)
    queue.sql(
        "update minutehand.jobs_live set run_at = run_at, visible = now(), latest = now() - interval '1 second'"
    )
    assert enqueue_again(queue, 2, **options).outcome == "replaced"
    (offered,) = queue.offer()
    assert enqueue_again(queue, 3, **options).outcome == "replaced"
    assert enqueue_again(queue, [4], **options).outcome == "replaced"
    assert enqueue_again(queue, [5], on_conflict="merge", **options).outcome == "merged"

    assert [(job.id, job.payload) for job in queue.claim(offered)] == [(first, [4, 5])]
    assert queue.waits(enqueue_again(queue, **options).id, MINUTE)


def test_debounced_job_in_retry_starts_a_new_wait(queue: Queue) -> None:
    options: dict[str, Any] = {"debounce": MINUTE, "debounce_max": LONG}
    first = queue.enqueue(key="k", **options)
    queue.sql(
        "update minutehand.jobs_live set run_at = run_at, visible = now(), latest = now() - interval '1 second'"
    )
    (job,) = queue.take()
    finish(job, Failed(ERROR))
    enqueue_again(queue, **options)

    assert queue.waits(first, MINUTE)
    assert queue.row(first).attempts == 0


def test_throttle_delays_the_next_job_to_the_end_of_the_period(
    queue: Queue,
) -> None:
    first = queue.claimed(payload=1, key="k", throttle=LONG)
    second, third = (enqueue_again(queue, payload, throttle=LONG) for payload in (2, 3))

    assert (second.outcome, third.outcome, second.id) == ("created", "replaced", third.id)
    assert queue.waits(second.id, LONG)
    assert finish(first, Done()).ending == "done"
    queue.pass_time(second.id)
    (job,) = queue.take()
    assert job.payload == 3
    assert queue.waits(enqueue_again(queue, throttle=LONG).id, 2 * LONG)


def test_throttle_keeps_a_later_time(queue: Queue) -> None:
    queue.claimed(key="k", throttle=LONG)
    far = datetime(2500, 1, 1, tzinfo=UTC)

    assert enqueue_again(queue, throttle=LONG, run_at=far).visible == far
    assert enqueue_again(queue, throttle=LONG).visible == far


def test_throttled_job_is_due_immediately_after_the_period(queue: Queue) -> None:
    finish(queue.claimed(key="k", throttle=LONG), Done())
    queue.sql("update minutehand.uniques set until = now() - interval '1 second'")

    assert queue.row(enqueue_again(queue, throttle=LONG).id).state == "due"


def test_unique_for_rejects_others_until_the_period_is_over(queue: Queue) -> None:
    job = queue.claimed(key="k", unique_for=LONG)
    finish(job, Done())
    ignored = enqueue_again(queue, unique_for=LONG)
    with pytest.raises(KeyTakenError, match="excludes others"):
        enqueue_again(queue, unique_for=LONG, on_conflict="raise")
    queue.sql("delete from minutehand.jobs")
    # An ignored job has the time at which its key is free.
    assert (ignored.id, ignored.outcome, enqueue_again(queue, unique_for=LONG).id) == (
        job.id,
        "ignored",
        job.id,
    )
    assert abs(ignored.visible - job.enqueued - LONG) < MINUTE

    queue.sql("update minutehand.uniques set until = now()")
    assert enqueue_again(queue, unique_for=LONG).outcome == "created"


def test_period_begins_only_if_a_job_is_created(queue: Queue) -> None:
    running = queue.claimed(key="k")
    options: dict[str, Any] = {"unique_while": "running", "unique_for": LONG}
    assert enqueue_again(queue, **options).outcome == "ignored"
    assert queue.sql("select key from minutehand.uniques") == []
    finish(running, Done())

    assert enqueue_again(queue, **options).outcome == "created"


def test_unique_while_running_rejects_others_until_the_job_is_finished(queue: Queue) -> None:
    job = queue.claimed(key="k")
    assert enqueue_again(queue, unique_while="running").id == job.id
    queue.pass_time(job.id)
    assert enqueue_again(queue, unique_while="running").outcome == "ignored"
    finish(job, Done())

    assert enqueue_again(queue, unique_while="running").outcome == "created"


PLACES: list[dict[str, str]] = [{}, {"queue": "other"}, {"tenant": "acme"}]


def test_keys_are_scoped_by_queue_and_tenant(queue: Queue) -> None:
    for options in ({"unique_for": LONG}, {"throttle": LONG}, {"on_conflict": "merge"}):
        for place in PLACES:
            combined = {"key": f"of {next(iter(options))}", **options, **place}
            assert enqueue_again(queue, **combined).outcome == "created"


RUNS = r"(unique_while = 'running'.*?where )j.tenant = item.tenant and j.queue = item.queue and"


@pytest.mark.fault("functions/keys", RUNS, r"\1j.queue = item.queue and")
@pytest.mark.fault("functions/keys", RUNS, r"\1j.tenant = item.tenant and")
def test_running_job_blocks_its_key_in_its_queue_and_tenant_only(queue: Queue) -> None:
    queue.claimed(key="k")

    outcomes = [enqueue_again(queue, unique_while="running", **place).outcome for place in PLACES]
    assert outcomes == ["ignored", "created", "created"]


OF_KEY = r"u.tenant = item.tenant and u.queue = item.queue and u.key = item.key;\s*return"


@pytest.mark.fault("functions/keys", OF_KEY, "u.queue = item.queue and u.key = item.key; return")
@pytest.mark.fault("functions/keys", OF_KEY, "u.tenant = item.tenant and u.key = item.key; return")
def test_reservation_of_a_key_belongs_to_its_queue_and_tenant(queue: Queue) -> None:
    made = {enqueue_again(queue, unique_for=LONG, **place).id for place in PLACES}

    assert {row["job"] for row in queue.sql("select job from minutehand.uniques")} == made


@pytest.mark.fault("free_keys", "and u.tenant = over.tenant", "")
@pytest.mark.fault("free_keys", "u.queue = over.queue and", "")
def test_expired_periods_are_deleted(queue: Queue) -> None:
    for place in PLACES:
        enqueue_again(queue, unique_for=LONG, **place)
    queue.sql("update minutehand.uniques set until = now() where queue = 'default' and tenant = ''")
    run_maintenance(queue.database)

    left = queue.sql("select queue, tenant from minutehand.uniques order by queue")
    assert left == [{"queue": "default", "tenant": "acme"}, {"queue": "other", "tenant": ""}]


def test_open_transaction_on_an_expired_key_does_not_block_a_tick(direct_queue: Queue) -> None:
    for key in ("k", "another"):
        direct_queue.enqueue(key=key, unique_for=MINUTE)
    direct_queue.sql("update minutehand.uniques set until = now() - interval '1 hour'")
    enqueuer = direct_queue.another()
    with enqueuer.transaction():
        enqueue("echo", key="k", unique_for=MINUTE, connection=enqueuer)

        assert direct_queue.start(run_maintenance, direct_queue.another()).result(LONG.total_seconds()).swept

    assert direct_queue.sql("select key from minutehand.uniques") == [{"key": "k"}]
