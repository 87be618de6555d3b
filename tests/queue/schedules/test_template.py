"""The job of a schedule has no field that the schedule decides, or by which it could reach other jobs."""

import json
from typing import Any

import pytest

from minutehand import InvalidJobError, NewJob, enqueue, schedules
from minutehand.batches import open_batch
from minutehand.database.tenants import TenantDatabase
from minutehand.model.new_job import OPTIONS
from minutehand.schedules.fire import fire_due
from minutehand.schedules.template import NOT_IN_TEMPLATE
from tests.queue.logins import logins
from tests.queue.schedules.stage import HOUR, NOON, save
from tests.queue.stage import Queue
from tests.servers import Database as Address

ID = "01890000-0000-7000-8000-000000000001"
DECIDED: dict[str, Any] = {
    "run_at": "2030-01-01T00:00:00Z",
    "delay": "1 hour",
    "every": "P1D",
    "zone": "UTC",
    "tenant": "globex",
    "batch": ID,
    "after": [ID],
    "after_failure": "run",
    "nominal": "2030-01-01T00:00:00Z",
    "schedule": "other",
    "id": ID,
    "load": ID,
    "ordinal": 7,
}
SAVE = """
select minutehand.save_schedule('hourly', '0 * * * *', 'UTC', null, null, '0', '0', 'none', 100, 'allow', %s::json,
                                null, null, now(), now())
"""


def test_fields_that_the_schedule_decides_are_all_named(direct_queue: Queue) -> None:
    columns = direct_queue.sql(
        "select attname as name from pg_attribute where attrelid = 'minutehand.new_jobs'::regclass and attnum > 0"
    )
    internal = {column["name"] for column in columns} - set(OPTIONS)
    named = direct_queue.sql("select minutehand.not_in_template() as names")[0]["names"]

    assert set(DECIDED) == set(named) == NOT_IN_TEMPLATE | internal - {"on_conflict"}


@pytest.mark.parametrize("field", DECIDED)
def test_template_with_a_field_of_the_schedule_is_refused(direct_database: Address, field: str) -> None:
    with logins(direct_database) as login:
        connection = TenantDatabase(login("operator"), "acme")
        with connection.transaction() as session:
            session.execute(SAVE, [json.dumps({"kind": "report", field: None})])
        with pytest.raises(InvalidJobError) as refused, connection.transaction() as session:
            session.execute(SAVE, [json.dumps({"kind": "report", field: DECIDED[field]})])

    assert refused.value.rule == "schedule_has_a_job"
    assert f"must not have {field};" in str(refused.value.__cause__)


def test_firing_ignores_stored_fields_of_the_schedule(direct_queue: Queue) -> None:
    batch = open_batch(direct_queue.database, on_complete="done")
    other = enqueue("secret", tenant="globex", connection=direct_queue.database)
    save(direct_queue, job=NewJob("report", {"n": 1}))
    stored = (
        {"kind": "report", "payload": {"n": 2}} | DECIDED | {"batch": str(batch), "after": [str(other.id)]}
    )
    direct_queue.database.connection.execute("update minutehand.schedules set job = %s", [json.dumps(stored)])

    assert fire_due(direct_queue.database, NOON + HOUR).fired == 1

    [job] = direct_queue.sql("select * from minutehand.jobs where kind = 'report'")
    assert {name: job[name] for name in ("run_at", "nominal", "schedule", "tenant", "payload")} == {
        "run_at": NOON + HOUR,
        "nominal": NOON + HOUR,
        "schedule": "hourly",
        "tenant": "",
        "payload": {"n": 2},
    }
    assert (job["every"], job["zone"], job["batch"], job["after"]) == (None,) * 4 and str(job["id"]) != ID
    assert schedules.get(direct_queue.database, "hourly").error is None
