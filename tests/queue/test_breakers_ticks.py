"""Circuit breakers and ticks: when the next one is needed, what they skip, and what they forget."""

from datetime import timedelta
from uuid import uuid4

import pytest

from minutehand.finish import finish
from minutehand.model.outcome import Done, Snoozed
from minutehand.operations.audit import list_audit
from minutehand.operations.controls import list_holds, unblock
from tests.queue.logins import Login
from tests.queue.stage import LONG, Queue
from tests.queue.tenants.stage import query_as
from tests.queue.test_breakers import OVER, PAUSE, broken, declare, fail, fill


def test_wakeup_is_for_the_next_probe(queue: Queue) -> None:
    """In mode sleep. Due jobs of other groups need a tick before."""
    broken(queue)
    (need,) = queue.database.run("next_need")
    assert PAUSE - timedelta(minutes=1) < need["needed"] - need["now"] <= PAUSE
    fill(queue, 1, "b")

    (need,) = queue.database.run("next_need")
    assert need["needed"] <= need["now"]


@pytest.mark.parametrize("other", [None, "due", "later"])
def test_wakeup_behind_many_jobs_that_wait_is_for_the_next_probe(queue: Queue, other: str | None) -> None:
    """Unless another job behind them needs a tick before."""
    broken(queue)
    queue.sql("""insert into minutehand.jobs_live (kind, queue, "group", run_at, visible)
                 select 'echo', 'default', 'a', now(), now() from generate_series(1, 22_000)""")
    if other:
        queue.enqueue(delay=timedelta(minutes=2 if other == "later" else 0))
    (need,) = queue.database.run("next_need")

    least = {None: PAUSE - timedelta(minutes=1), "later": timedelta(minutes=1), "due": timedelta(-1)}[other]
    most = {None: PAUSE, "later": timedelta(minutes=2), "due": timedelta()}[other]
    assert least < need["needed"] - need["now"] <= most


def need_of_many_groups(queue: Queue, jobs: int) -> timedelta:
    """Return the time until the next tick with 1,100 groups that wait for an hour, and due jobs in some of them."""
    queue.sql("""insert into minutehand.breakers (queue, tenant, "group", slow_until)
                 select 'default', '', 'g' || n, now() + interval '1 hour' from generate_series(1, 1100) n""")
    queue.sql(f"""insert into minutehand.jobs_live (kind, queue, "group", run_at, visible)
                  select 'echo', 'default', 'g' || n, now(), now() from generate_series(1, {jobs}) n""")  # type: ignore[arg-type]
    (need,) = queue.database.run("next_need")
    wait: timedelta = need["needed"] - need["now"]
    return wait


def test_wakeup_for_few_jobs_of_many_groups_is_for_the_end_of_the_wait(queue: Queue) -> None:
    assert timedelta(minutes=59) < need_of_many_groups(queue, 900) <= timedelta(hours=1)


@pytest.mark.fault("next_need", r"then max\(j.visible\) else", "then null else")
def test_wakeup_for_many_jobs_of_many_groups_is_not_late(queue: Queue) -> None:
    """The job behind the first 1,000 is assumed to be able to start."""
    assert need_of_many_groups(queue, 1100) <= timedelta()


@pytest.mark.parametrize("ends", [True, False])
def test_no_wakeup_is_needed_while_a_probe_runs(queue: Queue, ends: bool) -> None:
    broken(queue)
    queue.sql(OVER)
    (probe,) = queue.take()
    if ends:
        finish(probe, Done())
    (need,) = queue.database.run("next_need")

    assert (need["needed"] <= need["now"]) is ends
    assert ends or need["needed"] == need["busy_until"]


def test_waiting_dispatcher_expects_the_next_probe(queue: Queue) -> None:
    broken(queue)
    wait = {"waiter": uuid4(), "capacity": 10}

    assert [queue.database.run("poll", lasts=lasts, **wait)[0]["rated"] for lasts in (PAUSE / 2, PAUSE)] == [
        False,
        True,
    ]


def test_tenant_whose_groups_wait_does_not_delay_others(queue: Queue) -> None:
    declare(queue)
    for tenant in ("acme", "other"):
        for _ in range(150):
            queue.enqueue(group="a", tenant=tenant)
    for job in [job for job in queue.take(10) if job.tenant == "acme"][:2]:
        fail(job)
    queue.sql(
        "update minutehand.jobs_live set ack = null, claimed = null, visible = run_at where claimed is not null"
    )

    assert {offer.tenant for offer in queue.offer(5)} == {"other"}


def test_breaker_of_a_group_without_jobs_is_forgotten(queue: Queue) -> None:
    """After a day. One whose group has jobs is examined again after another day."""
    broken(queue)
    queue.enqueue(group="b")
    queue.sql(OVER + ", examined = examined - interval '25 hours'")
    queue.sql("""insert into minutehand.breakers (queue, tenant, "group", failures, examined)
                 values ('default', '', 'gone', 1, now() - interval '25 hours'), ('default', '', 'new', 1, now())""")
    for _ in range(2):
        queue.database.run("prune_groups", now=None)

    rows = queue.sql(
        "select \"group\", examined > now() - interval '1 hour' as new from minutehand.breakers order by 1"
    )
    assert rows == [{"group": "a", "new": True}, {"group": "new", "new": True}]


@pytest.mark.fault(
    "functions/control_states", r"read_scope\(\)\) in \('', of_tenant\)", "read_scope()) is not null"
)
def test_tenant_sees_no_hold_of_another_tenants_group(login: Login, queue: Queue) -> None:
    queue.sql("""insert into minutehand.breakers (queue, tenant, "group", slow_until)
                 select 'default', t, 'g', now() + interval '1 hour' from unnest('{a,b}'::text[]) t""")
    hold = "select * from minutehand.group_state('default', 'b', 'g', now())"

    assert query_as(login("tenant"), "a", hold) == []
    assert len(query_as(login("tenant"), "b", hold)) == 1


@pytest.mark.every_server
def test_unblock_ends_the_wait_of_retry_after(queue: Queue) -> None:
    """Not that of a breaker."""
    declare(queue, after=1)
    fill(queue, 1)
    fill(queue, 1, "b")
    failing, other = queue.take(2)
    fail(failing, hold=PAUSE)
    finish(other, Snoozed(LONG))
    queue.sql("""insert into minutehand.breakers (queue, tenant, "group", slow_until)
                 values ('default', '', 'b', now() + interval '1 day')""")
    fill(queue, 1)
    fill(queue, 1, "b")
    assert queue.take(5) == []
    holds = list_holds(queue.database)
    assert [(hold.queue, hold.group) for hold in holds] == [("default", "b"), ("default", "a")]
    assert [unblock(queue.database, "b", actor="ann") for _ in range(2)] == [True, False]
    assert [job.group for job in queue.take(5)] == ["b"]
    assert unblock(queue.database, "a")

    assert queue.take(5) == []
    facts = list_audit(queue.database)[1].facts
    assert (facts["group"], facts["jobs"], facts["retry_after"]) == ("b", 0, True)
