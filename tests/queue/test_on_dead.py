"""A job with `on_dead` creates one job when it dies, in the statement that ends it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from minutehand import Fail, Job, NewJob, Retry
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Cancelled, Done, Failed, Finish, Outcome, OutOfTime
from minutehand.operations.defaults import Defaults, list_defaults, set_defaults
from minutehand.operations.jobs import cancel, replay, retry
from tests.queue.attempts.stage import raising
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": "private"}
NOON = datetime(2041, 1, 7, 12, tzinfo=UTC)
DEAD = Failed(ERROR, final=True)
FULL = NewJob(
    "alert",
    {"team": "billing", "n": 1.50},
    queue="ops",
    priority=9,
    max_attempts=3,
    retry=Retry(strategy="fixed", min=LONG),
    timeout=LONG,
    headers={"a": "b"},
    expires=LONG,
    on_dead=NewJob("page", {"loud": True}),
)
ON_DEAD = r"case when outcome = 'dead'.*?end as on_dead"


def alerts(queue: Queue) -> list[dict[str, Any]]:
    """Return the jobs that deaths created."""
    return queue.sql("select * from minutehand.jobs_live where kind = 'alert' order by id")


@pytest.mark.fault("finish", ON_DEAD, "null::uuid as on_dead")
def test_death_creates_the_job_with_facts_of_the_dead_one(queue: Queue) -> None:
    job = queue.claimed("echo", key="k", on_dead=FULL, tenant="acme")
    ending = finish(job, DEAD)

    (row,) = alerts(queue) or [{}]
    assert (row["id"], row["tenant"], row["queue"], row["priority"]) == (ending.on_dead, "acme", "ops", 9)
    assert (row["max_attempts"], row["timeout"], row["expires"]) == (3, LONG, LONG)
    assert (row["headers"], row["retry"]["strategy"]) == ({"a": "b"}, "fixed")
    assert row["on_dead"] == {"kind": "page", "payload": {"loud": True}}
    dead = {"id": str(job.id), "kind": "echo", "queue": "default", "key": "k", "attempts": 1}
    error = {"type": "ValueError", "message": "no"}
    assert row["payload"] == {"team": "billing", "n": 1.5, "dead": {**dead, "error": error}}


@pytest.mark.fault("functions/jobs", "where name <> 'dead'", "where true")
def test_facts_of_the_dead_job_replace_a_field_of_the_payload(queue: Queue) -> None:
    finish(queue.claimed(on_dead=NewJob("alert", {"dead": False, "n": 1})), DEAD)

    fields = queue.sql(
        "select json_object_keys(payload) as name from minutehand.jobs_live where kind = 'alert'"
    )
    assert sorted(field["name"] for field in fields) == ["dead", "n"]


def out_of_attempts(queue: Queue, **options: Any) -> None:
    finish(queue.claimed(max_attempts=1, **options), Failed(ERROR))


def failed_for_good(queue: Queue, **options: Any) -> None:
    queue.attempt(raising(Fail("no")), **options)


def out_of_time(queue: Queue, **options: Any) -> None:
    queue.attempt(raising(OutOfTime("too slow")), max_attempts=1, **options)


def worker_died(queue: Queue, **options: Any) -> None:
    job = queue.claimed(max_attempts=1, **options)
    queue.pass_time(job.id)
    run_maintenance(queue.database)


@pytest.mark.parametrize("death", [out_of_attempts, failed_for_good, out_of_time, worker_died])
def test_every_death_creates_one_job(queue: Queue, death: Callable[..., None]) -> None:
    death(queue, on_dead="alert")
    run_maintenance(queue.database)

    assert [row["payload"]["dead"]["kind"] for row in alerts(queue)] == ["echo"]


@pytest.mark.fault("reap", r"\(select minutehand\.create_on_dead.*?\) as on_dead", "null::uuid as on_dead")
def test_death_of_a_worker_creates_the_job(queue: Queue) -> None:
    worker_died(queue, on_dead="alert")

    assert [row["payload"]["dead"]["error"]["type"] for row in alerts(queue)] == ["WorkerDied"]


def cancelled_by_operator(queue: Queue) -> None:
    cancel(queue.database, [queue.enqueue(on_dead="alert")])


def expired(queue: Queue) -> None:
    queue.enqueue(on_dead="alert", expires=LONG)
    queue.sql("update minutehand.jobs_live set run_at = run_at - %(by)s", by=LONG)
    run_maintenance(queue.database)


def superseded(queue: Queue) -> None:
    job = queue.claimed(key="k", on_dead="alert")
    queue.enqueue(key="k")
    assert finish(job, Failed(ERROR)).ending == "superseded"


@pytest.mark.parametrize("end", [cancelled_by_operator, expired, superseded])
def test_other_ends_create_no_job(queue: Queue, end: Callable[[Queue], None]) -> None:
    end(queue)

    assert alerts(queue) == []


@pytest.mark.parametrize("outcome", [Done(), Cancelled(ERROR)])
@pytest.mark.fault("finish", r"case when outcome = 'dead'", "case when true")
def test_outcome_without_a_death_creates_no_job(queue: Queue, outcome: Outcome) -> None:
    # `finish_done` ends jobs without a group that are done.
    finish(queue.claimed(on_dead="alert", group="house"), outcome)

    assert alerts(queue) == []


def test_retry_creates_no_job(queue: Queue) -> None:
    finish(queue.claimed(on_dead="alert"), Failed(ERROR, delay=LONG))

    assert alerts(queue) == []


def test_late_and_repeated_finishes_create_one_job(queue: Queue) -> None:
    job = queue.claimed(on_dead="alert")
    queue.pass_time(job.id)
    (owner,) = queue.take()
    endings = [finish(each, DEAD).ending for each in (job, owner, job, owner)]

    assert endings == ["lost", "dead", "lost", "lost"]
    assert len(alerts(queue)) == 1


def test_concurrent_finishes_create_one_job(queue: Queue) -> None:
    job = queue.claimed(on_dead="alert")
    claims: list[Job] = [replace(job, lease=replace(job.lease, database=queue.another())) for _ in range(5)]
    endings: list[Finish] = [race.result() for race in [queue.start(finish, each, DEAD) for each in claims]]

    assert sorted(each.ending for each in endings) == ["dead", "lost", "lost", "lost", "lost"]
    assert [row["id"] for row in alerts(queue)] == [each.on_dead for each in endings if each.on_dead]


def test_rolled_back_death_creates_no_job(queue: Queue) -> None:
    job = queue.claimed(on_dead="alert")

    def roll_back() -> None:
        with queue.database.transaction():
            finish(job, DEAD)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        roll_back()

    assert alerts(queue) == []


def test_dead_alert_creates_another_only_if_it_says_so(queue: Queue) -> None:
    for kind in ("alert", "page"):
        set_defaults(queue.database, Defaults(kind=kind, on_dead="alert"))
    set_defaults(queue.database, Defaults(queue="default", on_dead="alert"))
    finish(queue.claimed(on_dead=NewJob("alert", on_dead="page")), DEAD)
    kinds = []
    for job in (found for _ in range(4) for found in queue.take()):
        kinds.append(job.kind)
        finish(job, DEAD)

    assert kinds == ["alert", "page"]


def test_on_dead_is_copied_to_occurrences_and_replays(queue: Queue) -> None:
    job = queue.enqueue(every="PT1H", on_dead=FULL, run_at=None)
    queue.pass_time(job)
    finish(queue.take()[0], Done())
    replay(queue.database, [job])

    stored = queue.sql("select on_dead::text from minutehand.jobs")
    assert len(stored) == 3 and len({row["on_dead"] for row in stored}) == 1
    assert "1.5" in stored[0]["on_dead"]


def test_retried_job_that_dies_again_creates_another(queue: Queue) -> None:
    job = queue.claimed(on_dead="alert")
    finish(job, DEAD)
    retry(queue.database, [job.id])
    (again,) = [each for each in queue.take(2) if each.id == job.id]
    finish(again, DEAD)

    assert len(queue.sql("select 1 from minutehand.jobs where kind = 'alert'")) == 2


def test_job_that_cannot_be_created_does_not_keep_the_other_alive(queue: Queue) -> None:
    jobs = [queue.claimed(on_dead=FULL), queue.claimed(on_dead="alert", max_attempts=1)]
    queue.sql("update minutehand.settings set max_payload = 10")
    endings = [finish(jobs[0], DEAD)]
    queue.pass_time(jobs[1].id)
    run_maintenance(queue.database)

    assert [(each.ending, each.on_dead) for each in endings] == [("dead", None)]
    assert [queue.row(job.id).state for job in jobs] == ["dead", "dead"]
    assert alerts(queue) == []


def test_personal_job_clears_on_dead_after_using_it(queue: Queue) -> None:
    job = queue.claimed(personal=True, on_dead=FULL)
    finish(job, DEAD)

    assert queue.row(job.id).on_dead is None
    assert [row["payload"]["team"] for row in alerts(queue)] == ["billing"]


def test_defaults_of_on_dead_are_listed_as_they_were_set(queue: Queue) -> None:
    set_defaults(queue.database, Defaults(kind="echo", on_dead=FULL))
    finish(queue.claimed(), DEAD)

    assert [each.on_dead for each in list_defaults(queue.database)] == [
        replace(FULL, retry=FULL.retry, on_dead=NewJob("page", {"loud": True}))
    ]
    assert len(alerts(queue)) == 1
