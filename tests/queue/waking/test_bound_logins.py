"""A login that is bound to a tenant cannot keep ticks waiting: its jobs are offered by the dispatcher."""

import pytest

from minutehand import Database, enqueue, wake
from tests.queue.logins import Login
from tests.queue.stage import Queue
from tests.queue.waking.conftest import Lambda
from tests.queue.waking.test_transactions import waits


@pytest.fixture
def bound(queue: Queue, login: Login) -> Database:
    """A session of a login that may enqueue, bound to a tenant."""
    session = login("enqueuer")
    (name,) = session.connection.execute("select session_user::text").fetchone()  # type: ignore[misc]
    queue.sql("insert into minutehand.tenant_roles values (%(name)s, 'acme')", name=name)
    return session


@pytest.mark.fault("functions/waking", r"minutehand.is_bound\(\) or", "")
def test_offer_of_a_bound_login_locks_nothing(queue: Queue, bound: Database) -> None:
    queue.offer(capacity=3)
    job = enqueue("echo", connection=bound)

    with bound.transaction():
        answers = bound.run("offer_now", ids=[job.id], next=None, others=False)
        waited = waits(queue, "start_tick", now=None)

    assert not waited
    assert [(answer["id"], answer["wake"]) for answer in answers] == [(None, True)]
    assert queue.row(job.id).state == "due"


def test_job_of_a_bound_login_invokes_the_dispatcher(queue: Queue, aws: Lambda, bound: Database) -> None:
    job = enqueue("echo", connection=bound)

    assert (aws.offered, aws.wakes) == ([], 1)
    wake(job, connection=bound)
    assert [offer.id for offer in queue.offer()] == [job.id]
