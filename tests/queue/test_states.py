"""A job has one of nine states, which rows, lists and statistics agree on."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from minutehand import InvalidJobError, NotFoundError
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done, Failed, Snoozed
from minutehand.model.row import STATES
from minutehand.operations.jobs import cancel, promote, retry
from minutehand.queries.jobs import Depth, get, list_jobs, stats
from tests.queue.stage import LEASE, LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def state_of(queue: Queue, job_id: UUID) -> str:
    """Return the state of a job, on which the row, the lists and the statistics agree."""
    state = queue.row(job_id).state
    assert [row.id for row in list_jobs(queue.database, states=[state]).rows] == [job_id]
    assert list_jobs(queue.database, states=[other for other in STATES if other != state]).rows == ()
    assert [(depth.state, depth.jobs) for depth in stats(queue.database)] == [(state, 1)]
    return state


def test_job_passes_through_all_nine_states(queue: Queue) -> None:
    job_id = queue.enqueue(delay=LONG, max_attempts=2)
    states = [state_of(queue, job_id)]
    promote(queue.database, [job_id])
    states.append(state_of(queue, job_id))
    offers = queue.offer()
    states.append(state_of(queue, job_id))
    (job,) = queue.claim(*offers)
    states.append(state_of(queue, job_id))
    finish(job, Failed(ERROR, delay=LONG))
    states.append(state_of(queue, job_id))
    queue.pass_time(job_id)
    (job,) = queue.take()
    finish(job, Failed(ERROR))
    states.append(state_of(queue, job_id))
    retry(queue.database, [job_id])
    cancel(queue.database, [job_id])
    states.append(state_of(queue, job_id))
    retry(queue.database, [job_id])
    queue.sql("update minutehand.jobs_live set expires = '1 minute', run_at = run_at - interval '2 minutes'")
    run_maintenance(queue.database)
    states.append(state_of(queue, job_id))
    retry(queue.database, [job_id])
    (job,) = queue.take()
    finish(job, Done())
    states.append(state_of(queue, job_id))

    assert states[:5] == ["scheduled", "due", "offered", "running", "retrying"]
    assert states[5:] == ["dead", "cancelled", "expired", "done"]
    assert set(states) == set(STATES)


def test_lapsed_offer_or_claim_is_due(queue: Queue) -> None:
    job_id = queue.enqueue()
    for begin in (queue.offer, queue.take):
        assert len(begin()) == 1
        queue.pass_time(job_id)
        assert state_of(queue, job_id) == "due"


def test_crashed_job_is_offered_and_running_again(queue: Queue) -> None:
    job = queue.claimed()
    queue.pass_time(job.id)
    offers = queue.offer()
    assert state_of(queue, job.id) == "offered"
    queue.claim(*offers)
    assert state_of(queue, job.id) == "running"


def test_snoozed_job_is_scheduled_or_retrying_by_its_attempts(queue: Queue) -> None:
    job = queue.claimed()
    finish(job, Snoozed(LONG))
    assert state_of(queue, job.id) == "scheduled"
    promote(queue.database, [job.id])
    (job,) = queue.take()
    finish(job, Failed(ERROR, delay=timedelta()))
    (job,) = queue.take()
    finish(job, Snoozed(LONG))
    assert state_of(queue, job.id) == "retrying"


def test_pages_are_contiguous(queue: Queue) -> None:
    # Ids of one millisecond are not in order.
    ids = sorted(queue.enqueue(payload=n) for n in range(25))
    pages, before = [], None
    for _ in range(4):
        page = list_jobs(queue.database, limit=7, before=before)
        pages.append([row.id for row in page.rows])
        before = page.before

    assert [len(page) for page in pages] == [7, 7, 7, 4]
    assert [job_id for page in pages for job_id in page] == ids[::-1]
    assert before is None


def test_full_last_page_has_no_next_page(queue: Queue) -> None:
    for _ in range(4):
        queue.enqueue()

    assert list_jobs(queue.database, limit=4).before is None
    assert list_jobs(queue.database, limit=3).before is not None


def test_jobs_enqueued_during_paging_do_not_shift_pages(queue: Queue) -> None:
    ids = sorted(queue.enqueue() for _ in range(6))
    first = list_jobs(queue.database, limit=3)
    queue.sql(
        "insert into minutehand.jobs (id, kind) values ('ffffffff-ffff-7fff-bfff-ffffffffffff', 'echo')"
    )
    promote(queue.database, ids)
    cancel(queue.database, ids[:1])
    second = list_jobs(queue.database, limit=3, before=first.before)

    assert [row.id for row in first.rows + second.rows] == ids[::-1]


def test_list_filters_are_combined(queue: Queue) -> None:
    wanted = queue.enqueue("invoice", queue="slow", key="ada")
    for kind, name, key in [("echo", "slow", "eve"), ("invoice", "fast", "ada"), ("invoice", "slow", "bob")]:
        queue.enqueue(kind, queue=name, key=key)

    page = list_jobs(queue.database, kind="invoice", queue="slow", key="ada", states=["due", "done"])
    assert [row.id for row in page.rows] == [wanted]


def test_list_omits_private_and_large_columns(queue: Queue) -> None:
    queue.enqueue(payload="secret", headers={"token": "secret"})
    (row,) = list_jobs(queue.database).rows

    assert (row.payload, row.headers, row.result) == (None, None, None)
    assert "secret" not in repr(row)


@pytest.mark.parametrize("states", [["sleeping"], ["due", "DONE"], [""]])
def test_unknown_state_is_rejected(queue: Queue, states: list[str]) -> None:
    with pytest.raises(
        InvalidJobError, match="must be one of scheduled, due, offered, running, retrying, done, dead"
    ):
        list_jobs(queue.database, states=states)


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_page_size_is_bounded(queue: Queue, limit: int) -> None:
    with pytest.raises(InvalidJobError):
        list_jobs(queue.database, limit=limit)


def test_missing_job_is_not_found(queue: Queue) -> None:
    missing = uuid4()
    with pytest.raises(NotFoundError, match=str(missing)):
        get(queue.database, missing)


def test_stats_have_counts_and_oldest_times(queue: Queue) -> None:
    first = queue.enqueue(queue="a")
    queue.enqueue(queue="a")
    later = queue.enqueue(queue="b", delay=LONG)

    assert stats(queue.database) == [
        Depth("a", "due", 2, queue.row(first).visible),
        Depth("b", "scheduled", 1, queue.row(later).visible),
    ]


def test_row_has_every_column(queue: Queue) -> None:
    job = queue.claimed("echo", {"a": 1}, key="k", headers={"h": "v"}, timeout=LEASE, priority=7)
    finish(job, Done('["result"]'))
    row = queue.row(job.id)

    assert (row.id, row.queue, row.kind, row.state, row.key) == (job.id, "default", "echo", "done", "k")
    assert (row.payload, row.headers, row.result) == ({"a": 1}, {"h": "v"}, ["result"])
    assert (row.priority, row.attempts, row.max_attempts, row.timeout) == (7, 1, 8, LEASE)
    assert row.claimed is not None
    assert row.deleted is not None
    assert datetime(2001, 9, 9, tzinfo=UTC) < row.run_at <= row.claimed <= row.deleted
    assert row.run_at <= row.enqueued <= row.claimed
    assert row.error is None
