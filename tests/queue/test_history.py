"""Read jobs by id, key, page and filter, and their attempts and queues."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from minutehand import InvalidJobError, NotFoundError
from minutehand.finish import finish
from minutehand.model.outcome import Done
from minutehand.model.row import Page
from minutehand.operations.defaults import Defaults, set_defaults
from minutehand.operations.retention import Retention, set_retention
from minutehand.queries.jobs import get, get_by_key, list_attempts, list_jobs, list_queues
from tests.queue.past import ago, attempted, finished, noon, today
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_version

DAY = timedelta(days=1)


def ids(page: Page) -> list[UUID]:
    return [row.id for row in page.rows]


def test_key_finds_the_upcoming_else_running_else_last_finished_job(queue: Queue) -> None:
    first, second = (
        finished(queue, noon(ago(queue, 3)), key="k"),
        finished(queue, noon(ago(queue, 2)), "dead", key="k"),
    )
    # This day has no partition.
    finished(queue, noon(today(queue) - 9 * DAY), key="k")
    found = [get_by_key(queue.database, "default", "k").id]
    running = queue.claimed(key="k")
    found.append(get_by_key(queue.database, "default", "k").id)
    upcoming = queue.enqueue(key="k")
    found.append(get_by_key(queue.database, "default", "k").id)
    finish(running, Done())
    found.append(get_by_key(queue.database, "default", "k").id)
    queue.sql("delete from minutehand.jobs where id = any (%(ids)s)", ids=[running.id, upcoming])
    found.append(get_by_key(queue.database, "default", "k").id)

    assert found == [*second, running.id, upcoming, upcoming, *second]
    assert first != second


def test_key_in_a_default_partition_is_found(queue: Queue) -> None:
    (job_id,) = finished(queue, noon(today(queue) - 9 * DAY), key="k")

    assert get_by_key(queue.database, "default", "k").state == "done"
    assert get(queue.database, job_id).state == "done"
    assert ids(list_jobs(queue.database, key="k")) == [job_id]


def test_key_is_scoped_by_queue_and_tenant(queue: Queue) -> None:
    queue.enqueue(key="k", queue="other")
    own = queue.enqueue(key="k", tenant="ada")
    for key, tenant in [("k", ""), ("K", "ada"), ("k", "bob")]:
        with pytest.raises(NotFoundError):
            get_by_key(queue.database, "default", key, tenant=tenant)

    assert get_by_key(queue.database, "default", "k", tenant="ada").id == own


def test_pages_lead_forward_back_and_to_the_last(queue: Queue) -> None:
    created = [queue.enqueue() for _ in range(7)][::-1]
    first = list_jobs(queue.database, limit=3)
    second = list_jobs(queue.database, limit=3, before=first.before)
    third = list_jobs(queue.database, limit=3, before=second.before)
    back = list_jobs(queue.database, limit=3, after=third.after)
    front = list_jobs(queue.database, limit=3, after=back.after)
    last = list_jobs(queue.database, limit=3, last=True)

    assert [ids(page) for page in (first, second, third)] == [created[:3], created[3:6], created[6:]]
    assert [ids(page) for page in (back, front, last)] == [created[3:6], created[:3], created[4:]]
    assert (first.after, third.before, front.after, last.before) == (None, None, None, None)
    assert (last.after, front.before) == (created[4], created[2])


def test_pages_do_not_shift_while_jobs_are_enqueued(queue: Queue) -> None:
    created = [queue.enqueue() for _ in range(9)][::-1]
    other, before = queue.another(), None
    seen: list[UUID] = []
    while len(seen) < 9:
        page = list_jobs(queue.database, before=before, limit=2)
        enqueuing = queue.start(lambda: [Queue.enqueue(queue, "new") for _ in range(3)])
        seen, before = seen + [row.id for row in page.rows], page.before
        enqueuing.result()
    back = list_jobs(other, after=created[4], limit=4)

    assert seen == created
    assert ids(back) == created[:4] and back.after == created[0]


def test_ids_sort_by_creation_across_milliseconds(queue: Queue) -> None:
    created = queue.sql(
        "select left(minutehand.uuid7()::text, 18) as stamp from generate_series(1, 100000) as n order by n"
    )
    stamps = [row["stamp"] for row in created]

    assert stamps == sorted(stamps)


def test_total_counts_matches_and_has_the_offset_of_the_page(queue: Queue) -> None:
    finished(queue, noon(ago(queue, 2)), count=4)
    for _ in range(3):
        queue.enqueue("other")
    page = list_jobs(queue.database, kind="echo", limit=3, total=True)
    rest = list_jobs(queue.database, kind="echo", limit=3, before=page.before, total=True)
    none = list_jobs(queue.database, kind="none", total=True)

    assert [(p.total, p.place) for p in (page, rest, none)] == [(4, 0), (4, 3), (0, 0)]
    assert list_jobs(queue.database).total is None


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"version": "7"}, {"a"}),
        ({"version": "none"}, set()),
        ({"priority": 9}, {"live"}),
        ({"priority": 5}, {"a", "b", "c"}),
        ({"headers": {"request": "b7"}}, {"live"}),
        ({"headers": {"request": "b7", "trace": "a=b"}}, {"live"}),
        ({"headers": {"request": "b7", "trace": "x"}}, set()),
        ({"headers": {"request": "b"}}, set()),
        ({"headers": {}}, {"a", "b", "c", "live"}),
        ({"tenant": "ada"}, {"b"}),
        ({"tenant": ""}, {"a", "c", "live"}),
        ({"finished_since": -3}, {"a", "b"}),
        ({"finished_until": -3}, {"c"}),
        ({"finished_since": -3, "finished_until": -1.5}, {"b"}),
        ({"since": -3}, {"a", "b", "live"}),
        ({"until": -1.5}, {"b", "c"}),
        ({"until": -1.5, "states": ["dead"]}, {"c"}),
    ],
)
def test_each_filter_is_applied(direct_queue: Queue, filters: dict[str, object], found: set[str]) -> None:
    queue = direct_queue
    names = {
        finished(queue, noon(ago(queue, 1)), version="7")[0]: "a",
        finished(queue, noon(ago(queue, 2)), tenant="ada")[0]: "b",
        finished(queue, noon(ago(queue, 5)), "dead")[0]: "c",
        queue.enqueue(priority=9, headers={"request": "b7", "trace": "a=b"}): "live",
    }
    options = {
        k: noon(today(queue)) + v * DAY if isinstance(v, (int, float)) and k != "priority" else v
        for k, v in filters.items()
    }

    assert {names[row.id] for row in list_jobs(queue.database, **options).rows} == found  # type: ignore[call-overload]
    assert list_jobs(queue.database, total=True, **options).total == len(found)  # type: ignore[call-overload]
    assert {names[row.id] for row in list_jobs(queue.database, last=True, **options).rows} == found  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"before": uuid4(), "after": uuid4()}, "one_cursor"),
        ({"before": uuid4(), "last": True}, "one_cursor"),
        ({"since": datetime(2026, 1, 1)}, "time_is_finite"),
        ({"limit": 0}, "page_is_bounded"),
        ({"priority": "9"}, "priority_is_0_to_9"),
        ({"headers": ["request"]}, "headers_are_strings"),
        ({"headers": {1: "x"}}, "headers_are_strings"),
    ],
)
def test_invalid_page_is_refused(direct_queue: Queue, wrong: dict[str, object], rule: str) -> None:
    with pytest.raises(InvalidJobError) as refused:
        list_jobs(direct_queue.database, **wrong)  # type: ignore[call-overload]

    assert refused.value.rule == rule


def test_attempts_are_listed_in_order(queue: Queue) -> None:
    job_id, day = uuid4(), noon(ago(queue, 2))
    attempted(queue, day + timedelta(hours=1), job=job_id, attempt=2, worker="worker-function")
    error = '{"type": "ValueError", "message": "no"}'
    attempted(queue, day, "retrying", job=job_id, error=error)
    # In the default partition.
    attempted(queue, noon(today(queue) - 9 * DAY), "lapsed", job=job_id)
    attempted(queue, day)
    reported = list_attempts(queue.database, job_id)

    assert [(each.attempt, each.outcome, each.worker) for each in reported] == [
        (1, "lapsed", None),
        (1, "retrying", None),
        (2, "done", "worker-function"),
    ]
    assert reported[1].error == {"type": "ValueError", "message": "no"}
    assert reported[1].ended - reported[1].started == timedelta(seconds=1)
    assert list_attempts(queue.database, uuid4()) == []


def test_queues_are_those_with_jobs_or_settings(queue: Queue) -> None:
    queue.enqueue(queue="live")
    (gone,) = [queue.enqueue(queue="gone")]
    queue.sql("update minutehand.jobs set deleted = now() where id = %(id)s", id=gone)
    set_defaults(queue.database, Defaults(kind="a", queue="planned"))
    set_defaults(queue.database, Defaults(kind="b"))
    set_retention(queue.database, Retention(queue="retained", done=DAY))
    set_retention(queue.database, Retention(done=DAY))
    queue.sql("insert into minutehand.controls (queue, paused) values ('paused', true), ('', true)")

    assert list_queues(queue.database) == ["gone", "live", "paused", "planned", "retained"]
