"""A reader sees what an operator sees, of all tenants or of its own, and changes nothing."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import sql

from minutehand import Database, InvalidJobError, batch, enqueue
from minutehand.database.tenants import as_tenant
from minutehand.doctor import ExaminedDatabase, examine_database
from minutehand.errors import ForbiddenError
from minutehand.operations.controls import limit, list_controls, pause
from minutehand.operations.jobs import cancel
from minutehand.queries.access import may_change
from minutehand.queries.attention import attention
from minutehand.queries.batches import list_batches
from minutehand.queries.jobs import get, list_jobs, list_queues
from minutehand.queries.system import system
from minutehand.queries.top import overview
from minutehand.queries.why import why, why_latest
from minutehand.schema.migrate import check_schema
from tests.queue.logins import Login
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_version

DAY = timedelta(days=1)


def enqueue_in(queue: Queue, tenant: str, name: str = "default", **options: Any) -> UUID:
    """Enqueue a job of a tenant in a queue."""
    return enqueue("echo", tenant=tenant, queue=name, connection=queue.database, **options).id


@pytest.fixture
def reader(login: Login) -> Database:
    return login("reader")


def test_reader_sees_what_an_operator_sees(login: Login, reader: Database, queue: Queue) -> None:
    operator = login("operator")
    job = queue.enqueue(after=[queue.enqueue(delay=DAY)])
    enqueue_in(queue, "a", "mail", group="acme")
    limit(queue.database, 1, per="group", queue="mail")
    pause(queue.database, queue="other")
    with batch(name="import", connection=queue.database) as jobs:
        jobs.enqueue("echo")
    check_schema(reader)

    reads = (
        list_jobs,
        list_queues,
        list_controls,
        list_batches,
        lambda database: get(database, job),
        lambda database: why(database, job).sentence,
        lambda database: why_latest(database).job,
        lambda database: [each.what for each in attention(database).items],
        lambda database: [each.queue for each in overview(database).queues],
        lambda database: system(database).capacity,
    )
    for read in reads:
        assert read(reader) == read(operator)
    assert len(list_queues(reader)) > 1


def test_doctor_skips_no_check_of_the_queue_for_a_reader(reader: Database) -> None:
    findings = examine_database(ExaminedDatabase(reader, None, 50))

    assert {each.check for each in findings if each.verdict == "skipped"} <= {"pooler", "old-snapshot"}


def test_reader_changes_nothing(reader: Database, login: Login, queue: Queue) -> None:
    job = queue.enqueue(delay=DAY)

    with pytest.raises(ForbiddenError):
        cancel(reader, [job])
    with pytest.raises(ForbiddenError):
        pause(reader, queue="default")
    with pytest.raises(ForbiddenError):
        enqueue("echo", connection=reader)
    assert (may_change(reader), may_change(login("operator")), may_change(queue.database)) == (
        False,
        True,
        True,
    )
    assert queue.row(job).state == "scheduled"


def test_reader_of_a_tenant_sees_only_its_rows(reader: Database, queue: Queue) -> None:
    own, other = enqueue_in(queue, "a", "mine"), enqueue_in(queue, "b", "theirs")
    with batch(name="theirs", connection=queue.database) as jobs:
        jobs.enqueue("echo")
    with as_tenant(reader, "b") as seen:
        assert [row.id for row in list_jobs(seen).rows] == [other]
    queue.sql("insert into minutehand.tenant_roles values (%(role)s, 'a')", role=reader.connection.info.user)

    assert [row.id for row in list_jobs(reader).rows] == [own]
    assert (list_queues(reader), list_batches(reader)) == (["mine"], [])
    with pytest.raises(ForbiddenError, match="is bound to tenant a"), as_tenant(reader, "b"):
        pass


def test_reader_with_a_tenants_role_changes_only_the_set_tenant(login: Login, queue: Queue) -> None:
    session = login("tenant")
    user = sql.Identifier(session.connection.info.user)
    queue.database.connection.execute(sql.SQL("grant minutehand_reader to {}").format(user))
    own, other = enqueue_in(queue, "a", delay=DAY), enqueue_in(queue, "b", delay=DAY)

    assert {row.id for row in list_jobs(session).rows} == {own, other}
    with pytest.raises(InvalidJobError) as refused:
        enqueue("echo", connection=session)
    assert refused.value.rule == "tenant_is_set"
    assert [each.outcome for each in cancel(session, [own, other])] == ["refused", "refused"]
    with as_tenant(session, "a") as confined:
        assert [each.outcome for each in cancel(confined, [own, other])] == ["changed", "absent"]
