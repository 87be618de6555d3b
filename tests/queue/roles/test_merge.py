"""A payload is merged only by a session that may read the job, or by the role that enqueued it."""

import pytest

from minutehand import Database, Enqueued, enqueue
from minutehand.errors import ForbiddenError
from minutehand.finish import finish
from minutehand.model.outcome import Done
from tests.queue.logins import Login
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

OWN = {"url": "https://own.example"}
OTHER = {"url": "https://other.example"}
SECRET = {"authorization": "Bearer 1"}


def first(session: Database, **options: object) -> Enqueued:
    return enqueue("http", OWN, key="k", delay=LONG, headers=SECRET, connection=session, **options)  # type: ignore[call-overload]


def merge(session: Database, **options: object) -> str:
    return enqueue("http", OTHER, key="k", on_conflict="merge", connection=session, **options).outcome  # type: ignore[call-overload]


@pytest.mark.parametrize("options", [{}, {"debounce": LONG}, {"unique_for": LONG}], ids=str)
def test_enqueuer_cannot_merge_into_the_job_of_another(
    queue: Queue, login: Login, options: dict[str, object]
) -> None:
    job = first(login("enqueuer"))
    with pytest.raises(ForbiddenError, match="may not merge into a job that it did not enqueue"):
        merge(login("enqueuer"), **options)

    row = queue.row(job.id)
    assert (row.payload, row.headers) == (OWN, SECRET)


def test_enqueuer_merges_into_its_own_job_and_its_next_occurrence(queue: Queue, login: Login) -> None:
    session = login("enqueuer")
    job = first(session, every="P1D")
    assert merge(session) == "merged"
    queue.pass_time(job.id)
    finished = finish(queue.take()[0], Done())

    assert merge(session) == "merged"
    assert finished.next is not None


@pytest.mark.parametrize("role", ["worker", "operator"])
def test_role_that_reads_jobs_merges_into_any(queue: Queue, login: Login, role: str) -> None:
    first(login("enqueuer"))

    assert merge(login(role)) == "merged"
    assert merge(queue.database) == "merged"


def test_tenant_merges_into_jobs_of_its_tenant(queue: Queue, login: Login) -> None:
    first(login("enqueuer"), tenant="acme")
    session = login("tenant")
    with session.transaction() as connection:
        connection.execute("select minutehand.as_tenant('acme')")
        assert merge(session) == "merged"


def test_replaced_job_belongs_to_its_last_enqueuer(queue: Queue, login: Login) -> None:
    before, after = login("enqueuer"), login("enqueuer")
    job = first(before)
    enqueue("http", OTHER, key="k", delay=LONG, connection=after)

    assert merge(after) == "merged"
    with pytest.raises(ForbiddenError):
        merge(before)
    assert not queue.row(job.id).headers
