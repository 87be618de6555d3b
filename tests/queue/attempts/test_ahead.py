"""The outcomes of a worker's last jobs and its next take are one transaction, in which each has its own fence."""

import signal
from collections.abc import Callable
from threading import Event as Flag
from threading import main_thread
from typing import Any

import pytest

from minutehand import Job
from minutehand.attempts.ending import Ahead
from minutehand.claim import ANY_TIME_AND_SLOT
from minutehand.database.preparing import USES
from minutehand.finish import finish_all
from minutehand.handlers import HandlerTable
from minutehand.model.outcome import Done, Failed, Finish, Interrupted, Outcome
from minutehand.work import work
from tests.queue.stage import GRACE, LEASE, LONG, WAITING, Queue
from tests.retries import IN_AN_HOUR
from tests.waiting import until

TAKE = {"queue": "default", "limit": 1, "lease": LEASE, "grace": GRACE, **ANY_TIME_AND_SLOT}
ERROR = {"type": "ValueError", "message": "no", "trace": ""}


@pytest.fixture
def warm(direct_queue: Queue) -> Queue:
    """A queue whose session has prepared the statements that end and take jobs."""
    for _ in range(USES + 1):
        direct_queue.claimed()
        assert finish_one(direct_queue.claimed()).ending == "done"
    direct_queue.sql("delete from minutehand.jobs")
    return direct_queue


def finish_one(job: Job, outcome: Outcome | None = None, ahead: Ahead | None = None) -> Finish:
    ((_, finished),) = finish_all([(job, outcome or Done())], ahead)
    return finished


def test_next_job_is_taken_in_the_transaction_of_the_last_outcome(warm: Queue) -> None:
    job, ahead = warm.claimed(), Ahead("take", TAKE)
    following = warm.enqueue()

    assert finish_one(job, ahead=ahead).ending == "done"

    assert [row["id"] for row in ahead.rows or ()] == [following]
    assert len(warm.sql("select distinct xmin::text from minutehand.jobs")) == 1


def test_next_take_sees_what_the_outcome_has_freed(warm: Queue) -> None:
    warm.sql("insert into minutehand.controls (queue, max_running) values ('default', 1)")
    job, ahead = warm.claimed(), Ahead("take", TAKE)
    following = warm.enqueue()

    finish_one(job, ahead=ahead)

    assert [row["id"] for row in ahead.rows or ()] == [following]


def test_lost_claim_does_not_keep_the_next_job(warm: Queue) -> None:
    job, ahead = warm.claimed(), Ahead("take", TAKE)
    warm.sql("update minutehand.jobs_live set ack = gen_random_uuid()")
    following = warm.enqueue()

    assert finish_one(job, ahead=ahead).ending == "lost"

    assert [row["id"] for row in ahead.rows or ()] == [following]


def test_own_job_whose_lease_has_lapsed_is_not_taken_again(warm: Queue) -> None:
    job, ahead = warm.claimed(), Ahead("take", TAKE)
    warm.sql("update minutehand.jobs_live set visible = now() - interval '1 s'")

    assert finish_one(job, ahead=ahead).ending == "done"

    assert ahead.rows == []


@pytest.mark.parametrize("parameters", [{**TAKE, "limit": -1}, {**TAKE, "lease": "long"}])
def test_outcome_is_written_if_the_next_take_fails(warm: Queue, parameters: dict[str, Any]) -> None:
    job, ahead = warm.claimed(), Ahead("take", parameters)
    warm.enqueue()

    assert finish_one(job, ahead=ahead).ending == "done"

    assert ahead.rows is None
    assert [len(warm.take(2)), warm.row(job.id).state] == [1, "done"]


def test_refused_outcome_takes_no_job(warm: Queue) -> None:
    job, ahead = warm.claimed(retry=IN_AN_HOUR), Ahead("take", TAKE)
    warm.enqueue()

    finished = finish_one(job, Done("not JSON"), ahead)

    assert (finished.ending, ahead.rows) == ("retrying", None)
    assert len(warm.take(2)) == 1


def test_outcome_that_brings_a_job_back_takes_nothing(warm: Queue) -> None:
    job, ahead = warm.claimed(), Ahead("take", TAKE)
    warm.enqueue()

    assert finish_one(job, Failed(ERROR, LONG), ahead).ending == "retrying"

    assert ahead.rows is None


def test_interrupted_transaction_leaves_a_usable_database(warm: Queue) -> None:
    job, ahead = warm.claimed(), Ahead("take", TAKE)
    former = signal.signal(signal.SIGALRM, raise_interrupted)
    with warm.another().transaction() as connection:
        connection.execute("select from minutehand.jobs_live for update")
        interrupting = warm.start(interrupt_main_thread, warm)
        with pytest.raises(Interrupted):
            finish_one(job, ahead=ahead)
        interrupting.result()
    signal.signal(signal.SIGALRM, former)

    assert (ahead.rows, warm.row(job.id).state) == (None, "running")
    assert finish_one(job, ahead=ahead).ending == "done"
    assert ahead.rows == []


def raise_interrupted(*_: object) -> None:
    raise Interrupted


def interrupt_main_thread(queue: Queue) -> None:
    until(lambda: queue.sql(WAITING)[0]["waiting"])
    signal.pthread_kill(main_thread().ident or 0, signal.SIGALRM)


def drain(queue: Queue, handle: Callable[[Any], object], stop: Flag, **options: Any) -> int:
    return work(queue.database, HandlerTable({"echo": handle}), stop, chunk=1, drain=True, **options)


@pytest.mark.parametrize("queues", ["default", ()])
def test_worker_runs_each_job_once(direct_queue: Queue, queues: Any) -> None:
    handled: list[object] = []
    for number in range(4 * USES):
        direct_queue.enqueue(payload=number)

    assert drain(direct_queue, handled.append, Flag(), queues=queues) == 4 * USES

    assert handled == [*range(4 * USES)]
    assert direct_queue.sql("select distinct attempts from minutehand.jobs") == [{"attempts": 1}]


def test_failed_worker_releases_the_job_that_it_has_taken(direct_queue: Queue) -> None:
    handled: list[object] = []

    def hook(event: Any) -> None:
        if event.name == "done" and len(handled) > 2 * USES:
            raise RuntimeError("the hook failed")

    for number in range(4 * USES):
        direct_queue.enqueue(payload=number)
    with pytest.raises(RuntimeError, match="the hook failed"):
        drain(direct_queue, handled.append, Flag(), hook=hook)

    assert direct_queue.sql("select id from minutehand.jobs_live where claimed is not null") == []


COMMIT_FAILS_ONCE = """
    create sequence commits;
    create function fail_once() returns trigger language plpgsql as $$
    begin
        if nextval('commits') = 12 then raise exception 'no' using errcode = '40001'; end if;
        return null;
    end $$;
    create constraint trigger fail_once after insert on minutehand.attempts
        initially deferred for each row execute function fail_once()
"""


def test_failed_commit_is_no_outcome_and_no_claim(direct_queue: Queue) -> None:
    handled: list[object] = []
    direct_queue.sql(COMMIT_FAILS_ONCE)
    for number in range(4 * USES):
        direct_queue.enqueue(payload=number)

    drain(direct_queue, handled.append, Flag(), queues="default")

    assert handled == [*range(4 * USES)]
    assert direct_queue.sql("select distinct deleted is not null as ended from minutehand.jobs") == [
        {"ended": True}
    ]
