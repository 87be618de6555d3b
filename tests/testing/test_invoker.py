"""The recording invoker with a real tick."""

import pytest

from minutehand import Database, enqueue
from minutehand.model.worker_route import WorkerRoutes
from minutehand.settings import Settings
from minutehand.testing import RecordingInvoker, Refused
from minutehand.tick import tick
from tests import servers


@pytest.fixture
def database(direct_database: servers.Database) -> Database:
    return Database(direct_database.url)


def test_invoker_records_the_events_of_a_tick(database: Database) -> None:
    job = enqueue("echo", queue="shipping", connection=database)
    invoker = RecordingInvoker()
    made = tick(database, invoker, Settings(workers=WorkerRoutes("ships-worker")))
    database.close()

    assert made.fan_out.invoked == 1 and invoker.accepted[0].worker == "ships-worker"
    ((job_id, _),) = invoker.events[0]["offers"]
    assert invoker.events[0]["queue"] == "shipping" and job_id == str(job.id)


def test_invoker_refuses_the_given_number_of_times(database: Database) -> None:
    for _ in range(3):
        enqueue("echo", connection=database)
    invoker = RecordingInvoker()
    invoker.refuse(2, TimeoutError("too slow"))
    made = tick(database, invoker, Settings())
    database.close()

    assert (made.fan_out.invoked, len(made.fan_out.refused)) == (1, 2)
    assert "too slow" in made.fan_out.refused[0].reason
    assert (len(invoker.accepted), len(invoker.refused)) == (1, 2)


def test_invoker_refuses_until_it_accepts_again() -> None:
    invoker = RecordingInvoker()
    invoker.refuse()
    for _ in range(3):
        with pytest.raises(Refused):
            invoker.invoke("worker", {"queue": "default"})
    invoker.refuse(0)
    invoker.invoke("worker", {"queue": "default"})

    assert (len(invoker.events), len(invoker.refused)) == (1, 3)
