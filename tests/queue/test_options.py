"""Each option of a job has its effect, and defaults apply to omitted options."""

from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import Job, NewJob, Retry
from minutehand.batches import open_batch
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.keyed import KEYED
from minutehand.model.outcome import Done, Failed
from tests.queue.stage import GRACE, LEASE, LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
MINUTE = timedelta(minutes=1)
FIXED = Retry(strategy="fixed", min=LONG, jitter=False)


def handled(queue: Queue, **options: Any) -> Job:
    """Return a job as its handler receives it."""
    seen: list[Job] = []
    queue.enqueue(options.pop("kind", "echo"), options.pop("payload", None), **options)
    queue.work(lambda _, job: seen.append(job), kind="echo")
    return seen[0]


def check_kind(queue: Queue) -> None:
    queue.enqueue("other")
    assert [ending.ending for ending in queue.work(lambda _: None, kind="echo")] == ["released"]
    queue.enqueue("echo")
    assert [ending.ending for ending in queue.work(lambda _: None, kind="echo")] == ["done"]


def check_payload(queue: Queue) -> None:
    assert handled(queue, payload={"a": 1}).payload == {"a": 1}


def check_queue(queue: Queue) -> None:
    job_id = queue.enqueue(queue="slow")
    assert queue.take() == []
    assert [job.id for job in queue.take(1, "slow")] == [job_id]


def check_key(queue: Queue) -> None:
    assert queue.enqueue(key="a") == queue.enqueue(key="a") != queue.enqueue(key="b")


def check_group(queue: Queue) -> None:
    queue.enqueue(group=("customer", 17))
    assert [job.group for job in queue.take()] == ["customer/17"]


def check_run_at(queue: Queue) -> None:
    queue.enqueue(run_at=datetime(2500, 1, 1, tzinfo=UTC))
    assert queue.take() == []


def check_delay(queue: Queue) -> None:
    queue.enqueue(delay=LONG)
    assert queue.take() == []


def check_priority(queue: Queue) -> None:
    _, first = queue.enqueue(priority=1), queue.enqueue(priority=9)
    assert [job.id for job in queue.take()] == [first]


def check_max_attempts(queue: Queue) -> None:
    assert finish(queue.claimed(max_attempts=1), Failed(ERROR)).ending == "dead"
    assert finish(queue.claimed(max_attempts=2), Failed(ERROR)).ending == "retrying"


def check_retry(queue: Queue) -> None:
    job = queue.claimed(retry=FIXED)
    visible = finish(job, Failed(ERROR)).visible
    assert visible is not None
    assert LONG <= visible - job.claimed < LONG + MINUTE


def check_timeout(queue: Queue) -> None:
    job = queue.claimed(timeout=timedelta(seconds=5))
    assert job.remaining <= timedelta(seconds=5)
    assert queue.row(job.id).visible - job.claimed <= timedelta(seconds=5) + GRACE < LEASE


def check_headers(queue: Queue) -> None:
    assert handled(queue, headers={"trace": "1-2-3"}).headers == {"trace": "1-2-3"}


def check_every(queue: Queue) -> None:
    row = queue.row(queue.enqueue(every="PT1H"))
    assert (row.state, queue.waits(row.id, timedelta(hours=1))) == ("scheduled", True)


def check_zone(queue: Queue) -> None:
    hours = {
        queue.row(queue.enqueue(every="0 8 * * *", zone=zone)).run_at.hour for zone in ("Asia/Tokyo", "UTC")
    }
    assert hours == {23, 8}


def check_personal(queue: Queue) -> None:
    job = queue.claimed(payload={"name": "Ada"}, personal=True)
    finish(job, Done())
    assert queue.row(job.id).payload is None


def check_tenant(queue: Queue) -> None:
    assert queue.enqueue(key="a", tenant="acme") != queue.enqueue(key="a", tenant="other")
    assert queue.row(queue.enqueue(tenant="acme")).tenant == "acme"


def check_on_conflict(queue: Queue) -> None:
    first = queue.enqueue(payload=[1], key="a")
    queue.enqueue(payload=[2], key="a", on_conflict="merge")
    assert queue.row(first).payload == [1, 2]


def check_unique_while(queue: Queue) -> None:
    running = queue.claimed(key="a")
    assert queue.enqueue(key="a", unique_while="running") == running.id != queue.enqueue(key="a")


def check_unique_for(queue: Queue) -> None:
    first = queue.claimed(key="a", unique_for=LONG)
    finish(first, Done())
    assert queue.enqueue(key="a", unique_for=LONG) == first.id != queue.enqueue(key="a")


def check_debounce(queue: Queue) -> None:
    assert queue.waits(queue.enqueue(key="a", debounce=LONG), LONG)


def check_debounce_max(queue: Queue) -> None:
    first = queue.enqueue(key="a", debounce=MINUTE, debounce_max=2 * MINUTE)
    queue.enqueue(key="a", debounce=LONG, debounce_max=LONG)
    assert queue.waits(first, 2 * MINUTE)


def check_throttle(queue: Queue) -> None:
    first = queue.claimed(key="a", throttle=LONG)
    assert finish(first, Done()).ending == "done"
    assert queue.waits(queue.enqueue(key="a", throttle=LONG), LONG)


def check_expires(queue: Queue) -> None:
    job_id = queue.enqueue(expires=MINUTE)
    queue.sql("update minutehand.jobs_live set run_at = run_at - interval '1 minute'")
    run_maintenance(queue.database)
    assert queue.row(job_id).state == "expired"


def check_on_dead(queue: Queue) -> None:
    finish(queue.claimed(on_dead="alert"), Failed(ERROR, final=True))
    assert [job.kind for job in queue.take()] == ["alert"]


def check_batch(queue: Queue) -> None:
    batch_id = open_batch(queue.database)
    assert handled(queue, batch=batch_id).batch == batch_id


def check_after(queue: Queue) -> None:
    first = queue.enqueue(queue="first")
    queue.enqueue(after=[first])
    assert queue.take() == []


def check_after_failure(queue: Queue) -> None:
    first = queue.claimed(queue="first")
    queue.enqueue(after=[first.id], after_failure="run")
    finish(first, Failed(ERROR, final=True))
    run_maintenance(queue.database)
    assert len(queue.take()) == 1


OPTIONS: dict[str, Callable[[Queue], None]] = {
    "kind": check_kind,
    "payload": check_payload,
    "queue": check_queue,
    "key": check_key,
    "group": check_group,
    "run_at": check_run_at,
    "delay": check_delay,
    "priority": check_priority,
    "max_attempts": check_max_attempts,
    "retry": check_retry,
    "timeout": check_timeout,
    "headers": check_headers,
    "every": check_every,
    "zone": check_zone,
    "personal": check_personal,
    "tenant": check_tenant,
    "on_conflict": check_on_conflict,
    "unique_while": check_unique_while,
    "unique_for": check_unique_for,
    "debounce": check_debounce,
    "debounce_max": check_debounce_max,
    "throttle": check_throttle,
    "expires": check_expires,
    "on_dead": check_on_dead,
    "batch": check_batch,
    "after": check_after,
    "after_failure": check_after_failure,
}


# Another statement enqueues jobs with these.
OF_KEYED = (*KEYED, "on_conflict")


def test_every_option_has_a_test() -> None:
    assert list(OPTIONS) == [field.name for field in fields(NewJob)]


@pytest.mark.parametrize("option", [option for option in OPTIONS if option not in OF_KEYED])
@pytest.mark.fault("enqueue_plain", r"%\(\w+\)s", "null")
def test_each_option_has_its_effect(queue: Queue, option: str) -> None:
    OPTIONS[option](queue)


@pytest.mark.parametrize("option", OF_KEYED)
@pytest.mark.fault("enqueue", r"%\((?!on_conflict)\w+\)s", "null")
def test_each_option_of_keyed_jobs_has_its_effect(queue: Queue, option: str) -> None:
    OPTIONS[option](queue)
