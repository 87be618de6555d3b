"""Known faults of claims in other queues. Each test must fail if its fault is put back."""

from threading import Barrier
from uuid import UUID

import pytest

from minutehand import Job
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Done
from tests.queue.stage import LEASE, LONG, Queue

pytestmark = pytest.mark.every_server


@pytest.mark.fault("take", r"clock_timestamp\(\) \+ least", "j.visible + least")
@pytest.mark.fault("take", r",\s*visible = clock_timestamp\(\) \+ .*?%\(grace\)s", "")
def test_overdue_job_is_taken_by_one_of_25_claimants(queue: Queue) -> None:
    queue.pass_time(queue.enqueue(), by=LONG)

    assert [len(queue.take()) for _ in range(25)] == [1] + [0] * 24


def test_overdue_job_is_taken_by_one_of_25_concurrent_claimants(queue: Queue) -> None:
    queue.pass_time(queue.enqueue(), by=LONG)
    barrier = Barrier(25, timeout=60)

    def claimant() -> list[Job]:
        barrier.wait()
        return queue.take(database=queue.another())

    takers = [queue.start(claimant) for _ in range(25)]

    assert sorted(len(taker.result()) for taker in takers) == [0] * 24 + [1]


@pytest.mark.fault("claim", r"clock_timestamp\(\) \+ least", "j.visible + least")
def test_late_claim_of_an_offer_has_its_whole_lease(queue: Queue) -> None:
    queue.enqueue()
    (offered,) = queue.offer()
    queue.pass_time(offered.id, by=LONG)
    (job,) = queue.claim(offered)

    (row,) = queue.sql("select visible - claimed as lease from minutehand.jobs where id = %(id)s", id=job.id)
    assert LEASE < row["lease"] < 2 * LEASE
    assert queue.take() == []


OWN_ACK = r"j.id = o.id and j.ack = o.ack\s+and j.offered is not null[^\n]*"
SAME_KEY = r"""in (select id from minutehand.jobs_live
                     where key in (select key from minutehand.jobs_live where id = any (\1)))"""


@pytest.mark.fault(
    "take",
    r"= any \(\(select case .*?(array\(select id from placed [^\n]*\)) as ids\) taken\)::uuid\[\]\)",
    SAME_KEY,
)
@pytest.mark.fault(
    "claim", f"where [^\\n]*{OWN_ACK}", "where j.key = (select key from minutehand.jobs where id = o.id)"
)
def test_claim_does_not_change_other_jobs_of_its_key(queue: Queue) -> None:
    finished = queue.claimed(key="report")
    finish(finished, Done())
    running = queue.claimed(key="report")
    upcoming = queue.enqueue(key="report")

    (offered,) = queue.offer()
    assert [job.id for job in queue.claim(offered)] == [upcoming]
    queue.pass_time(upcoming)
    assert [job.id for job in queue.take()] == [upcoming]
    assert queue.sql("select ack from minutehand.jobs where id = %(id)s", id=running.id) == [
        {"ack": running.ack}
    ]
    assert queue.row(finished.id).state == "done"


NESTED_LOOPS = (
    "set local enable_hashjoin = off; set local enable_mergejoin = off; set local enable_material = off"
)


# A plan may evaluate `id in (select ... limit n for update skip locked)` once per row, and then take more than n jobs.
# Every version chooses that plan for `not ... <> all`, which means the same. A sort would keep its first result.
@pytest.mark.fault(
    "take",
    r", head as materialized \(\n    (select j.id)[^\n]*\n(.*?)lane l\n(.*?)\n"
    r"     order by j.visible - [^\n]*(.*?)\n\), bounded .*?\n\)\n(update.*?)"
    r"j.id = any \(\(select case .*?\) taken\)::uuid\[\]\)",
    r"\n\5 not j.id <> all (\1\n\2minutehand.lanes l\n\3\4)",
)
def test_take_respects_its_limit_under_any_query_plan(queue: Queue) -> None:
    for _ in range(20):
        queue.enqueue()
    queue.sql("insert into minutehand.lanes (queue, priority) values ('default', 5)")

    with queue.database.transaction() as connection:
        connection.execute(NESTED_LOOPS)
        assert len(queue.take(3)) == 3
        assert len(queue.take(1)) == 1


def test_concurrent_takes_respect_their_limit_and_do_not_overlap(queue: Queue) -> None:
    for _ in range(60):
        queue.enqueue()
    barrier = Barrier(8, timeout=60)

    def taker() -> list[list[Job]]:
        database = queue.another()
        barrier.wait()
        return [queue.take(3, database=database) for _ in range(4)]

    takers = [queue.start(taker) for _ in range(8)]
    taken = [jobs for future in takers for jobs in future.result()]

    assert all(len(jobs) <= 3 for jobs in taken)
    assert len({job.ack for jobs in taken for job in jobs}) == sum(map(len, taken))
    assert len({job.id for jobs in taken for job in jobs} | {job.id for job in queue.take(60)}) == 60


@pytest.mark.fault("take", r"for update skip locked", "")
@pytest.mark.fault("take", r"skip locked", "")
def test_take_skips_jobs_that_another_worker_is_taking(queue: Queue) -> None:
    queue.enqueue()
    queue.enqueue()
    other = queue.another()

    with other.transaction():
        first = queue.take(database=other)
        taking = queue.start(queue.take)
        queue.until_done_or_waiting(taking)
        assert taking.done()
    second = taking.result()

    assert len(first) == len(second) == 1
    assert first[0].id != second[0].id


@pytest.mark.fault("claim", r"j.ack = o.ack\s+and j.offered is not null and \(j.claimed.*\)", "true")
def test_duplicate_event_claims_once(queue: Queue) -> None:
    queue.enqueue()
    (offered,) = queue.offer()

    assert len(queue.claim(offered)) == 1
    assert queue.claim(offered) == []


@pytest.mark.fault("claim", OWN_ACK, "j.id = o.id")
def test_late_event_does_not_claim_a_newer_offer(queue: Queue) -> None:
    queue.enqueue()
    (lost,) = queue.offer()
    queue.pass_time(lost.id)
    (offered,) = queue.offer()

    assert queue.claim(lost) == []
    assert [job.id for job in queue.claim(offered)] == [offered.id]


@pytest.mark.fault("take", r"attempts = j.attempts \+ 1", "attempts = j.attempts")
def test_take_counts_the_attempt_of_a_crashing_job(queue: Queue) -> None:
    job_id = queue.enqueue(max_attempts=3)
    attempts = []
    for _ in range(3):
        attempts += [job.attempt for job in queue.take()]
        queue.pass_time(job_id)

    assert attempts == [1, 2, 3]
    assert queue.take() == []
    assert_dead(queue, job_id)


@pytest.mark.fault("claim", r"attempts = j.attempts \+ 1", "attempts = j.attempts")
def test_claim_counts_the_attempt_of_a_crashing_job(queue: Queue) -> None:
    job_id = queue.enqueue(max_attempts=3)
    for _ in range(3):
        assert len(queue.claim(*queue.offer())) == 1
        queue.pass_time(job_id)

    assert queue.offer() == []
    assert_dead(queue, job_id)


def test_lost_offer_does_not_use_an_attempt(queue: Queue) -> None:
    job_id = queue.enqueue(max_attempts=1)
    for _ in range(5):
        assert len(queue.offer()) == 1
        queue.pass_time(job_id)

    assert run_maintenance(queue.database).reaped == ()
    assert [job.attempt for job in queue.take()] == [1]


@pytest.mark.fault("take", r"visible <= coalesce", "claimed is null and visible <= coalesce")
def test_job_of_a_crashed_worker_is_due_again(queue: Queue) -> None:
    job = queue.claimed()
    assert queue.take() == []
    queue.pass_time(job.id)

    assert [(again.id, again.attempt, again.redelivered) for again in queue.take()] == [(job.id, 2, True)]


@pytest.mark.fault("claim", r"where j.id", "where j.visible > clock_timestamp() limit 1 and j.id")
def test_statements_with_faults_are_valid_sql(queue: Queue) -> None:
    queue.enqueue()

    assert len(queue.claim(*queue.offer())) == 1


def assert_dead(queue: Queue, job_id: UUID) -> None:
    assert [record["id"] for record in run_maintenance(queue.database).reaped] == [job_id]
    row = queue.row(job_id)
    assert (row.state, row.attempts) == ("dead", 3)
    assert row.error is not None
    assert row.error["type"] == "WorkerDied"
