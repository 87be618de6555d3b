"""Jobs that differ only in payload and time are written by one statement, by the rules of single enqueues."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import errors

from minutehand import Enqueued, NewJob, Rejected, Retry, enqueue, enqueue_many
from minutehand.model.alike import grouped
from minutehand.model.uuid7 import uuid7s
from tests.queue.logins import Login
from tests.queue.stage import Queue
from tests.queue.tenants.stage import query, query_as
from tests.thorough import examples

pytestmark = pytest.mark.every_server

LATER = datetime(2200, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
LARGE = NewJob("echo", "x" * 400_000)
RETRY = Retry(strategy="fixed", min=HOUR, max=HOUR)

JOBS = st.builds(
    NewJob,
    kind=st.sampled_from(["echo", "mail", "with_defaults"]),
    payload=st.one_of(
        st.none(),
        st.integers(),
        st.text(max_size=5),
        st.lists(st.floats(allow_nan=False, allow_infinity=False)),
    ),
    queue=st.sampled_from([None, "default", "other", "with_defaults"]),
    run_at=st.sampled_from([None, LATER, LATER + HOUR]),
    priority=st.sampled_from([None, 0, 9]),
    max_attempts=st.sampled_from([None, 1, 1_000_000]),
    retry=st.sampled_from([None, RETRY]),
    timeout=st.sampled_from([None, timedelta(microseconds=1), HOUR * 24]),
    headers=st.sampled_from([None, {}, {"plan": 'pro\\"\n'}]),
    personal=st.sampled_from([None, False, True]),
    tenant=st.sampled_from([None, "acme", "globex"]),
    on_conflict=st.sampled_from([None, "ignore"]),
    expires=st.sampled_from([None, HOUR]),
    on_dead=st.sampled_from([None, "mail", NewJob("mail", {"a": 1.50})]),
)


def bulk(queue: Queue, jobs: list[NewJob], **options: Any) -> list[Enqueued | Rejected]:
    return list(enqueue_many(jobs, connection=queue.database, **options))


def given_options(job: NewJob) -> dict[str, Any]:
    return {name: value for name, value in vars(job).items() if value is not None}


def rows(queue: Queue, made: list[Enqueued | Rejected]) -> list[dict[str, Any]]:
    """Return the jobs in order, with the times that do not depend on now, and delete them."""
    found = {
        row["id"]: row
        for row in queue.sql(
            """with gone as (delete from minutehand.jobs returning *)
               select id, to_jsonb(gone) - '{id,enqueued,run_at,visible,payload,on_dead}'::text[] as columns,
                      payload::text, on_dead::text, visible = run_at as same,
                      minutehand.expires_at(run_at, expires) - run_at as rest,
                      case when run_at > '2100-01-01' then date_trunc('second', run_at) end as run_at from gone"""
        )
    }
    return [found.pop(each.id) | {"id": None} for each in made if isinstance(each, Enqueued)]


@pytest.mark.fault("functions/plain", r"\(timeout, d.timeout, q.timeout\)", "(timeout, q.timeout)")
@examples(15, 200)
@given(jobs=st.lists(JOBS, min_size=2, max_size=6))
def test_alike_jobs_are_written_as_single_ones(direct_queue: Queue, jobs: list[NewJob]) -> None:
    """A bulk of one job uses COPY and enqueue_all, a single job has a statement of its own."""
    direct_queue.sql(
        """insert into minutehand.defaults (kind, queue, priority, max_attempts, timeout)
           values ('with_defaults', 'with_defaults', 1, 2, '3 s') on conflict do nothing"""
    )
    direct_queue.sql(
        """insert into minutehand.queue_defaults (queue, priority, max_attempts, timeout, on_dead)
           values ('with_defaults', 4, 5, '6 s', '{"kind": "mail"}') on conflict do nothing"""
    )
    # Many of each, or COPY writes them.
    many = [job for job in jobs for _ in range(20)]
    assert grouped(many) is not None

    together = rows(direct_queue, bulk(direct_queue, many))
    single = rows(direct_queue, bulk(direct_queue, jobs, chunk=1))
    alone = rows(
        direct_queue, [enqueue(**given_options(job), connection=direct_queue.database) for job in jobs]
    )

    assert alone == single
    assert together == [row for row in single for _ in range(20)]


@pytest.mark.fault("functions/alike", r"\* greatest\(p.place, 0\)", "* 0")
def test_result_has_the_exact_time_and_the_ids_sort_in_order(queue: Queue) -> None:
    east = datetime(2200, 1, 1, tzinfo=UTC).astimezone()
    times = [{}, {"delay": HOUR}, {"run_at": east}, {"run_at": datetime(1, 1, 1, tzinfo=UTC)}]
    made = bulk(queue, [NewJob("echo", n, **times[n % 4]) for n in range(100)])  # type: ignore[arg-type]

    stored = queue.sql("select id, visible, payload from minutehand.jobs order by id")
    assert [(row["id"], row["visible"], row["payload"]) for row in stored] == [
        (each.id, each.visible, each.ordinal) for each in made if isinstance(each, Enqueued)
    ]
    assert len({row["visible"] for row in stored}) == 100
    assert [job.payload for job in queue.take(100)] == [n for n in range(100) if n % 4 in (0, 3)]


def test_ids_of_several_kinds_sort_in_the_order_of_the_bulk(queue: Queue) -> None:
    ids = [
        each.id
        for each in bulk(queue, [NewJob("ab"[n % 2]) for n in range(100)])
        if isinstance(each, Enqueued)
    ]

    assert len(ids) == 100 and ids == sorted(ids)


@pytest.mark.fault("functions/alike", r"greatest\(least\(since, .*?;", "clock_timestamp();")
def test_bulk_of_several_kinds_keeps_its_order(queue: Queue) -> None:
    def stored() -> list[int]:
        queue.sql("delete from minutehand.jobs_live")
        bulk(queue, [NewJob("ab"[n % 2], n) for n in range(100)])
        return [row["payload"] for row in queue.sql("select payload from minutehand.jobs order by visible")]

    # On a busy machine, the statements of the two kinds may be more than a second apart.
    assert any(stored() == list(range(100)) for _ in range(5))


@pytest.mark.parametrize(
    ("name", "values"),
    [("priority", (1, True, 1.0)), ("group", (1, True, (1, True))), ("group", ((2, 1), (2, True), ()))],
)
def test_equal_options_of_another_type_are_rejected(queue: Queue, name: str, values: tuple[Any, ...]) -> None:
    jobs = [NewJob("echo", **{name: value}) for value in values]

    assert [each.outcome for each in bulk(queue, jobs)] == ["created", "rejected", "rejected"]


@pytest.mark.parametrize(("jobs", "sizes"), [([NewJob("echo")] * 1001, [1000, 1]), ([LARGE] * 4, [3, 1])])
def test_parts_are_bounded_in_rows_and_characters(jobs: list[NewJob], sizes: list[int]) -> None:
    (group,) = grouped(jobs) or []

    assert [len(part.places) for part in group.parts()] == sizes


@pytest.mark.parametrize(
    "options", [{"key": "a"}, {"every": "PT1H"}, {"unique_for": HOUR}, {"on_conflict": "never"}]
)
def test_jobs_that_depend_on_others_are_not_alike(options: dict[str, Any]) -> None:
    assert grouped([NewJob("echo"), replace(NewJob("echo"), **options)]) is None


def test_ids_of_a_moment_sort_across_milliseconds() -> None:
    ids = uuid7s(datetime(2030, 1, 1, 0, 0, 0, 999_000, UTC), range(5000))

    assert ids == sorted(ids) and len(set(ids)) == 5000
    assert {(each.version, each.variant) for each in ids} == {(7, "specified in RFC 4122")}


ONE = (
    "select minutehand.enqueue_alike(json_populate_record(null::minutehand.new_jobs, '{}'), '{}', '{{{}}}',"
    " array[gen_random_uuid()], {}, {})"
)


@pytest.mark.fault("functions/alike", r"\* greatest\(p.place, 0\)", "* p.place")
@pytest.mark.fault("functions/plain", r"greatest\((coalesce\(run_at.*?\)), moment\)", r"\1")
def test_login_cannot_enqueue_into_the_past(login: Login, queue: Queue) -> None:
    """A job of the past would run before all others."""
    query(login("enqueuer"), ONE.format('{"kind": "echo"}', "[1]", -2_000_000_000, "null", "null"))
    query(
        login("enqueuer"),
        ONE.format('{"kind": "echo"}', "[1]", 0, "array['2000-01-01'::timestamptz]", "null"),
    )

    query(
        login("enqueuer"),
        "select minutehand.enqueue_plain(gen_random_uuid(), 'echo', run_at => '2000-01-01')",
    )

    assert queue.sql("select id from minutehand.jobs where visible < enqueued or run_at < enqueued") == []


REFUSED = {
    "key": ('{"kind": "echo", "key": "a"}', "[1]", 0, "null", "null"),
    "recurring": ('{"kind": "echo", "every": "PT1H"}', "[1]", 0, "null", "null"),
    "no kind": ("{}", "[1]", 0, "null", "null"),
    "kind": ('{"kind": "not a kind"}', "[1]", 0, "null", "null"),
    "retry": ('{"kind": "echo", "retry": {}}', "[1]", 0, "null", "null"),
    "headers": ('{"kind": "echo", "headers": {"a": 1}}', "[1]", 0, "null", "null"),
    "on_dead": ('{"kind": "echo", "on_dead": {}}', "[1]", 0, "null", "null"),
    "delay": ('{"kind": "echo"}', "[1]", 0, "null", "array[interval '-1 s']"),
    "both": ('{"kind": "echo"}', "[1]", 0, "array[now()]", "array[interval '1 s']"),
    "payload": ('{"kind": "echo"}', f'["{"x" * 300_000}"]', 0, "null", "null"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_database_refuses_an_invalid_option_for_all(queue: Queue, case: str) -> None:
    with pytest.raises(errors.CheckViolation):
        query(queue.another(), ONE.format(*REFUSED[case]))

    assert queue.sql("select id from minutehand.jobs") == []


FOR_B = ONE.format('{"kind": "echo", "tenant": "b"}', "[1]", 0, "null", "null")
FOR_NONE = ONE.format('{"kind": "echo"}', "[1]", 0, "null", "null")


@pytest.mark.fault("functions/alike", "requested <> session_tenant", "false")
def test_tenant_cannot_enqueue_for_another_one(login: Login, queue: Queue) -> None:
    with pytest.raises(errors.CheckViolation, match="must enqueue only for that tenant"):
        query_as(login("tenant"), "a", FOR_B)


@pytest.mark.fault("functions/alike", "session_tenant = '-'", "false")
@pytest.mark.parametrize("text", [FOR_B, FOR_NONE])
def test_tenant_role_cannot_enqueue_without_a_tenant(login: Login, queue: Queue, text: str) -> None:
    with pytest.raises(errors.CheckViolation, match="must set a tenant"):
        query(login("tenant"), text)


@pytest.mark.fault("functions/alike", "return session_tenant", "return coalesce(requested, '')")
def test_tenant_owns_the_jobs_that_it_enqueues(login: Login, queue: Queue) -> None:
    query_as(login("tenant"), "a", FOR_NONE)

    assert queue.sql("select tenant from minutehand.jobs") == [{"tenant": "a"}]


def test_refused_statement_logs_no_values(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    """The driver logs the errors that follow the first one of a pipeline."""
    jobs = [NewJob("echo", "x" * 600_000)] * 2 + [NewJob("echo", headers={"secret": "\0"})] * 2

    assert {each.outcome for each in bulk(queue, jobs)} == {"rejected"}
    # asyncio logs when it frees a task that the handler of another test left.
    assert [each for each in caplog.records if each.name != "asyncio"] == []


def test_job_without_options_is_rejected_alone(direct_queue: Queue) -> None:
    rejected, made = bulk(direct_queue, [NewJob(None), NewJob("echo")])  # type: ignore[arg-type]

    assert isinstance(rejected, Rejected)
    assert isinstance(made, Enqueued)
