"""A tenant enqueues for itself only, and keys of other tenants are invisible to it."""

from datetime import timedelta
from typing import Any

import pytest
from psycopg import errors

from minutehand import Database, InvalidJobError, KeyTakenError, NewJob, enqueue, enqueue_many
from minutehand.database.tenants import TenantDatabase, as_tenant, is_tenant
from tests.queue.logins import Login
from tests.queue.stage import Queue
from tests.queue.tenants.stage import enqueue_as, jobs_of, query

pytestmark = pytest.mark.every_server


@pytest.mark.parametrize("role", ["tenant", "operator", "enqueuer"])
def test_tenant_enqueues_only_its_own_jobs(login: Login, queue: Queue, role: str) -> None:
    session = login(role)
    own = TenantDatabase(session, "a")
    one = enqueue("echo", connection=own)
    explicit = enqueue("echo", tenant="a", connection=own)
    many = [*enqueue_many([NewJob("echo"), NewJob("echo", tenant="a")], connection=own)]
    rejected = [*enqueue_many([NewJob("echo", tenant="b"), NewJob("echo")], connection=own)]
    for other in ("b", ""):
        with pytest.raises(InvalidJobError) as refused:
            enqueue("echo", tenant=other, connection=own)
        assert refused.value.rule == "tenant_is_own"

    assert [item.outcome for item in rejected] == ["rejected", "created"]
    assert {row["id"] for row in jobs_of(queue, "a")} == {
        one.id,
        explicit.id,
        *(item.id for item in many),  # type: ignore[union-attr]
        rejected[1].id,  # type: ignore[union-attr]
    }
    assert jobs_of(queue, "b") == jobs_of(queue, "") == []


def test_enqueuer_sets_the_tenant_of_each_job(login: Login, queue: Queue) -> None:
    enqueuer = login("enqueuer")
    made = {owner: enqueue("echo", tenant=owner, connection=enqueuer).id for owner in ("a", "b")}

    assert [{row["id"] for row in jobs_of(queue, owner)} for owner in made] == [{made["a"]}, {made["b"]}]
    assert enqueue("echo", connection=enqueuer).id == jobs_of(queue, "")[0]["id"]


@pytest.mark.parametrize("on_conflict", ["replace", "ignore", "raise"])
def test_key_of_another_tenant_is_invisible(tenant: Database, queue: Queue, on_conflict: Any) -> None:
    other_job = enqueue_as(queue, "b", payload="theirs", key="k", delay=timedelta(hours=1))
    without_tenant = queue.enqueue(payload="none", key="k", delay=timedelta(hours=1))
    before = [jobs_of(queue, "b"), jobs_of(queue, "")]
    with as_tenant(tenant, "a") as own:
        made = enqueue("echo", "own", key="k", on_conflict=on_conflict, connection=own)
        (many,) = enqueue_many([NewJob("echo", key="l")], on_conflict=on_conflict, connection=own)

    assert made.outcome == many.outcome == "created"
    assert made.id not in (other_job, without_tenant)
    assert [jobs_of(queue, "b"), jobs_of(queue, "")] == before


@pytest.mark.fault("functions/put_all", r"distinct on \(key, queue, tenant\)", "distinct on (key, queue)")
@pytest.mark.fault("functions/put_all", r"distinct on \(key, queue, tenant\)", "distinct on (key, tenant)")
def test_items_of_one_call_share_a_key_in_one_place_only(queue: Queue) -> None:
    places = [{"tenant": "a"}, {"tenant": "b"}, {"tenant": "a", "queue": "other"}]
    jobs = [NewJob("echo", key="k", **place) for place in places]  # type: ignore[arg-type]

    made = enqueue_many(jobs, connection=queue.database)

    assert [each.outcome for each in made] == ["created"] * 3


def test_key_of_the_same_tenant_conflicts(tenant: Database) -> None:
    with as_tenant(tenant, "a") as own:
        first = enqueue("echo", key="k", connection=own)
        assert enqueue("echo", key="k", connection=own).id == first.id
        with pytest.raises(KeyTakenError):
            enqueue("echo", key="k", on_conflict="raise", connection=own)


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "A1",
        "acme.eu",
        "7",
        "a:b@c_d-e",
        "x" * 100,
        "",
        " ",
        "-a",
        "a b",
        "ä",
        "a\n",
        "x" * 101,
        "a'",
        "a\0",
    ],
)
def test_tenant_names_have_the_same_rule_in_python_and_sql(direct_queue: Queue, name: str) -> None:
    if "\0" not in name and name:
        try:
            direct_queue.sql("select %(name)s::minutehand.tenant", name=name)
            accepted = True
        except errors.CheckViolation:
            accepted = False
        assert accepted == is_tenant(name)
    if is_tenant(name):
        with as_tenant(direct_queue.database, name) as own:
            enqueue("echo", connection=own)
    else:
        with pytest.raises(InvalidJobError) as refused, as_tenant(direct_queue.database, name):
            pass
        assert refused.value.rule == "tenant_is_a_name"


def test_tenant_can_be_set_in_sql(tenant: Database, queue: Queue) -> None:
    with tenant.connection.transaction():
        query(tenant, "select minutehand.as_tenant('a')")
        query(tenant, "select * from minutehand.enqueue('echo')")
    with pytest.raises(errors.CheckViolation), tenant.connection.transaction():
        query(tenant, "select minutehand.as_tenant('')")

    assert len(jobs_of(queue, "a")) == 1
