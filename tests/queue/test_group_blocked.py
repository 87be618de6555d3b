"""Blocked groups: a dead job can block its group, a job that was cancelled or that expired cannot."""

import pytest

from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.outcome import Failed
from minutehand.operations.controls import limit
from minutehand.operations.jobs import cancel
from tests.queue.stage import LONG, Queue


@pytest.mark.fault("functions/triggers", "not new.cancelled and", "")
def test_cancelled_job_does_not_block_its_group(queue: Queue) -> None:
    limit(queue.database, 1, per="group", in_order=True, on_dead="block")
    first, second = queue.enqueue(group="a"), queue.enqueue(group="a")
    cancel(queue.database, [first])

    assert [each.id for each in queue.take(5)] == [second]


@pytest.mark.fault("functions/triggers", r"\(new.attempts > 0 or new.expires is null\)", "true")
def test_expired_job_does_not_block_its_group(queue: Queue) -> None:
    limit(queue.database, 1, per="group", in_order=True, on_dead="block")
    first, second = queue.enqueue(group="a", expires=LONG), queue.enqueue(group="a")
    queue.sql(
        "update minutehand.jobs_live set run_at = run_at - %(by)s where id = %(id)s", id=first, by=2 * LONG
    )
    run_maintenance(queue.database)

    assert queue.row(first).deleted is not None
    assert [each.id for each in queue.take(5)] == [second]


@pytest.mark.fault("functions/triggers", r'new."group" is not null and not', "not")
def test_job_without_a_group_can_die_where_dead_jobs_block(queue: Queue) -> None:
    limit(queue.database, 1, per="group", in_order=True, on_dead="block")
    job = queue.claimed()

    assert finish(job, Failed({"type": "ValueError", "message": "no"}, final=True)).ending == "dead"
