"""The cost of takes: independent of the lanes of other queues."""

import pytest
from backlog import fill
from explain import explain_prepared

from minutehand.database import Connection
from minutehand.model.reached import BEGINNING
from tests.queue.stage import GRACE, LEASE, WITHOUT_LIMITS

pytestmark = [pytest.mark.every_version, pytest.mark.plans]

TAKE = {"queue": "default", "limit": 10, "lease": LEASE, "grace": GRACE}
OTHERS = """
insert into minutehand.lane_changes (queue, priority, visible)
select 'q' || n, 5, now() from generate_series(1, 10000) n;
insert into minutehand.lanes (queue, priority) select 'r' || n, 5 from generate_series(1, 10000) n;
analyze minutehand.lane_changes, minutehand.lanes"""


@pytest.mark.parametrize("statement", ["take", "take_ahead"])
def test_take_reads_no_lanes_of_other_queues(connection: Connection, statement: str) -> None:
    parameters = TAKE | WITHOUT_LIMITS[statement] | BEGINNING
    fill(connection, finished=0, due=1_000, scheduled=0)
    few = explain_prepared(connection, statement, parameters)

    connection.execute(OTHERS)
    many = explain_prepared(connection, statement, parameters)

    assert many.buffers <= few.buffers + 40
