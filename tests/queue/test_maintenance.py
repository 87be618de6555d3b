"""Maintenance does not block a tick; work that it cannot do is left to the next tick."""

import logging

import pytest

from minutehand import enqueue, schedules
from minutehand.maintenance import run_maintenance
from minutehand.model.new_job import NewJob
from tests.queue.stage import DEADLINE, Queue

pytestmark = pytest.mark.every_version


@pytest.mark.parametrize("tenant", ["", "acme"])
def test_lane_of_an_open_transaction_does_not_block_the_sweep(direct_queue: Queue, tenant: str) -> None:
    direct_queue.enqueue()
    enqueuer = direct_queue.another()
    with enqueuer.transaction():
        enqueue("echo", tenant=tenant, connection=enqueuer)
        enqueue("echo", queue="new", tenant=tenant, connection=enqueuer)

        assert (
            direct_queue.start(run_maintenance, direct_queue.another()).result(DEADLINE.total_seconds()).swept
        )


def test_failing_schedules_do_not_block_offers(direct_queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    job_id = direct_queue.enqueue()
    schedules.save(direct_queue.database, schedules.Schedule("hourly", "@hourly", NewJob("echo")))
    direct_queue.sql(
        "update minutehand.schedules set next = now() - interval '1 minute', wake = now() - interval '1 minute'"
    )
    direct_queue.sql("alter function minutehand.fire rename to broken")

    with caplog.at_level(logging.ERROR):
        assert run_maintenance(direct_queue.database).fired is None

    assert "maintenance could not fire schedules" in caplog.text
    assert [offer.id for offer in direct_queue.offer()] == [job_id]
