"""Keys that ask for more than a place among the upcoming ones: merge, debounce, throttle, unique for longer."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import Enqueued, InvalidJobError, KeyTakenError, NewJob, Rejected, enqueue, enqueue_many
from minutehand.finish import finish
from minutehand.maintenance import run_maintenance
from minutehand.model.key import key_text
from minutehand.model.outcome import Done, Failed
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

ERROR = {"type": "ValueError", "message": "no", "trace": ""}
MINUTE = timedelta(minutes=1)
ENCRYPTED = {"minutehand": {"v": 1}}


def again(queue: Queue, payload: object = None, /, **options: Any) -> Enqueued:
    return enqueue("echo", payload, connection=queue.database, **({"key": "k"} | options))


def both(queue: Queue, old: object, new: object) -> object:
    job_id = queue.enqueue(payload=old, key="k")
    assert again(queue, new, on_conflict="merge").outcome == "merged"
    payload: object = queue.row(job_id).payload
    queue.sql("delete from minutehand.jobs")
    return payload


KEYS: list[tuple[object, str]] = [
    ("a/b", "a/b"), (("a", "b"), "a/b"), (["a", "b"], "a/b"), (("a/b",), "a%2Fb"), (("a%2Fb",), "a%252Fb"),
    (("a", "b/c"), "a/b%2Fc"), (("a/b", "c"), "a%2Fb/c"), (1, "1"), ("1", "1"), (1.0, "1"), (1.5, "1.5"),
    (-0.5, "-0.5"), (("n", 1), "n/1"), (("N", 1), "N/1"), (2**80, str(2**80)), ("%2F", "%2F"),
    ("100%", "100%"), ("ü", "ü"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "text"), KEYS, ids=repr)
def test_key_has_one_text(key: object, text: str) -> None:
    assert key_text(key) == text


def test_key_is_the_same_in_every_interface(direct_queue: Queue) -> None:
    direct_queue.enqueue(key=("order", "a/b", 17))
    (made,) = enqueue_many([NewJob("echo", key=["order", "a/b", "17"])], connection=direct_queue.database)
    (by_sql,) = direct_queue.sql(
        "select * from minutehand.enqueue('echo', key => minutehand.key_of('order', 'a/b', '17'))"
    )

    assert (made.outcome, by_sql["outcome"]) == ("replaced", "replaced")
    assert direct_queue.enqueue(key="order/a%2Fb/17") == by_sql["id"]
    assert direct_queue.enqueue(key=("order", "a", "b", 17)) != by_sql["id"]


def test_python_and_sql_join_key_parts_equally(direct_queue: Queue) -> None:
    for parts in (["a", "b"], ["a/b"], ["%", "/", "%2F"], ["ü", "1"], [" a", "b "]):
        (row,) = direct_queue.sql("select minutehand.key_of(variadic %(parts)s::text[]) as key", parts=parts)
        assert row["key"] == key_text(parts)


def test_merge_joins_arrays_and_merges_objects(queue: Queue) -> None:
    assert both(queue, [1], [2, [3]]) == [1, 2, [3]]
    assert both(queue, [], []) == []
    assert both(queue, {"a": 1, "b": {"c": 1}}, {"b": {"d": 2}, "e": None}) == {
        "a": 1,
        "b": {"d": 2},
        "e": None,
    }
    assert both(queue, {}, {}) == {}
    assert both(queue, None, [1]) == [1]
    assert both(queue, {"a": 1}, None) == {"a": 1}


def test_merge_keeps_every_digit(queue: Queue) -> None:
    numbers = [1.0, 1e300, 0.1, 2**200, -0.0, 1e-7]
    merged = both(queue, numbers, {"of": 1} and numbers)

    assert [repr(number) for number in merged] == [repr(number) for number in numbers * 2]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new"),
    [([], {}), ({}, []), ("a", "b"), (1, [1]), (ENCRYPTED, {"a": 1}), ({"a": 1}, ENCRYPTED),
     ({"a": "\0"}, {"b": 1}), ({"b": 1}, {"\0": 1}), (["\0"], ["a"])],
)  # fmt: skip
def test_incompatible_payloads_are_not_merged(direct_queue: Queue, old: object, new: object) -> None:
    job_id = direct_queue.enqueue(payload=old, key="k")
    with pytest.raises(InvalidJobError) as refused:
        again(direct_queue, new, on_conflict="merge")

    assert refused.value.rule == "payloads_merge"
    assert direct_queue.row(job_id).payload == old


def test_merged_payload_is_limited_in_size(direct_queue: Queue) -> None:
    job_id = direct_queue.enqueue(payload=["x" * 200_000], key="k")
    with pytest.raises(InvalidJobError) as refused:
        again(direct_queue, ["x" * 200_000], on_conflict="merge")

    assert refused.value.rule == "payload_fits"
    assert len(direct_queue.row(job_id).payload) == 1


def test_merge_resets_attempts_and_idempotency_key(
    queue: Queue,
) -> None:
    job = queue.claimed(payload=[1], key="k", max_attempts=2)
    finish(job, Failed(ERROR, delay=timedelta()))
    again(queue, [2], on_conflict="merge")
    (retried,) = queue.take()

    assert (retried.id, retried.payload, retried.attempt) == (job.id, [1, 2], 1)
    assert retried.idempotency_key != job.idempotency_key


def test_claim_of_an_offer_returns_the_merged_payload(queue: Queue) -> None:
    queue.enqueue(payload=[1], key="k")
    (offered,) = queue.offer()
    again(queue, [2], on_conflict="merge")

    assert [job.payload for job in queue.claim(offered)] == [[1, 2]]


def test_debounce_postpones_the_job_up_to_its_maximum(queue: Queue) -> None:
    first = queue.enqueue(key="k", debounce=MINUTE, debounce_max=10 * MINUTE)
    assert queue.waits(first, MINUTE)
    again(queue, debounce=5 * MINUTE, debounce_max=10 * MINUTE)
    assert queue.waits(first, 5 * MINUTE)
    again(queue, debounce=LONG * 2, debounce_max=LONG * 3)
    assert queue.waits(first, 10 * MINUTE)


def test_debounced_job_can_be_claimed_after_its_maximum_wait(queue: Queue) -> None:
    said: dict[str, Any] = {"debounce": MINUTE, "debounce_max": LONG}
    first = queue.enqueue(payload=1, key="k", **said)
    queue.sql("update minutehand.jobs_live set visible = now(), latest = now() - interval '1 second'")
    assert again(queue, 2, **said).outcome == "replaced"
    (offered,) = queue.offer()
    assert again(queue, 3, **said).outcome == "replaced"
    assert again(queue, [4], **said).outcome == "replaced"
    assert again(queue, [5], on_conflict="merge", **said).outcome == "merged"

    assert [(job.id, job.payload) for job in queue.claim(offered)] == [(first, [4, 5])]
    assert queue.waits(again(queue, **said).id, MINUTE)


def test_debounced_job_in_retry_starts_a_new_wait(queue: Queue) -> None:
    said: dict[str, Any] = {"debounce": MINUTE, "debounce_max": LONG}
    first = queue.enqueue(key="k", **said)
    queue.sql("update minutehand.jobs_live set visible = now(), latest = now() - interval '1 second'")
    (job,) = queue.take()
    finish(job, Failed(ERROR))
    again(queue, **said)

    assert queue.waits(first, MINUTE)
    assert queue.row(first).attempts == 0


def test_throttle_delays_the_next_job_to_the_end_of_the_period(
    queue: Queue,
) -> None:
    first = queue.claimed(payload=1, key="k", throttle=LONG)
    second, third = (again(queue, payload, throttle=LONG) for payload in (2, 3))

    assert (second.outcome, third.outcome, second.id) == ("created", "replaced", third.id)
    assert queue.waits(second.id, LONG)
    assert finish(first, Done()).ending == "done"
    queue.pass_time(second.id)
    (job,) = queue.take()
    assert job.payload == 3
    assert queue.waits(again(queue, throttle=LONG).id, 2 * LONG)


def test_throttle_keeps_a_later_time(queue: Queue) -> None:
    queue.claimed(key="k", throttle=LONG)
    far = datetime(2500, 1, 1, tzinfo=UTC)

    assert again(queue, throttle=LONG, run_at=far).visible == far
    assert again(queue, throttle=LONG).visible == far


def test_throttled_job_is_due_immediately_after_the_period(queue: Queue) -> None:
    finish(queue.claimed(key="k", throttle=LONG), Done())
    queue.sql("update minutehand.uniques set until = now() - interval '1 second'")

    assert queue.row(again(queue, throttle=LONG).id).state == "due"


def test_unique_for_rejects_others_until_the_period_is_over(queue: Queue) -> None:
    job = queue.claimed(key="k", unique_for=LONG)
    finish(job, Done())
    ignored = again(queue, unique_for=LONG)
    with pytest.raises(KeyTakenError, match="excludes others"):
        again(queue, unique_for=LONG, on_conflict="raise")
    queue.sql("delete from minutehand.jobs")
    assert (ignored.id, ignored.outcome, again(queue, unique_for=LONG).id) == (job.id, "ignored", job.id)
    assert abs(ignored.visible - job.enqueued - LONG) < MINUTE  # when the key is free again

    queue.sql("update minutehand.uniques set until = now()")
    assert again(queue, unique_for=LONG).outcome == "created"


def test_period_begins_only_if_a_job_is_created(queue: Queue) -> None:
    running = queue.claimed(key="k")
    said: dict[str, Any] = {"unique_while": "running", "unique_for": LONG}
    assert again(queue, **said).outcome == "ignored"
    assert queue.sql("select key from minutehand.uniques") == []
    finish(running, Done())

    assert again(queue, **said).outcome == "created"


def test_unique_while_running_rejects_others_until_the_job_is_finished(queue: Queue) -> None:
    job = queue.claimed(key="k")
    assert again(queue, unique_while="running").id == job.id
    queue.pass_time(job.id)
    assert again(queue, unique_while="running").outcome == "ignored"
    finish(job, Done())

    assert again(queue, unique_while="running").outcome == "created"


def test_keys_are_scoped_by_queue_and_tenant(queue: Queue) -> None:
    for said in (
        {"unique_for": LONG},
        {"throttle": LONG},
        {"unique_while": "running"},
        {"on_conflict": "merge"},
    ):
        for place in ({}, {"queue": "other"}, {"tenant": "acme"}):
            options = {"key": f"of {next(iter(said))}", **said, **place}
            assert again(queue, **options).outcome == "created"


def test_identical_job_is_ignored_without_a_write(queue: Queue) -> None:
    said: dict[str, Any] = {"run_at": datetime(2500, 1, 1, tzinfo=UTC), "headers": {"a": "b"}, "priority": 3}
    first = again(queue, {"a": 1.0}, **said)
    before = queue.row(first.id)
    assert again(queue, {"a": 1.0}, **said).outcome == "ignored"
    (made,) = enqueue_many([NewJob("echo", {"a": 1.0}, key="k", **said)], connection=queue.database)

    assert (made.outcome, queue.row(first.id)) == ("ignored", before)
    assert again(queue, {"a": 1}, **said).outcome == "replaced"
    assert again(queue, {"a": 1}, **said | {"priority": 4}).outcome == "replaced"


def test_late_finish_of_a_replaced_job_is_lost(queue: Queue) -> None:
    late = queue.claimed(payload="old", key="k")
    queue.sql("update minutehand.jobs_live set ack = null, prior = null, offered = null, claimed = null")
    assert again(queue, "new").outcome == "replaced"

    assert finish(late, Done('"late"')).ending == "lost"
    assert [(job.id, job.payload) for job in queue.take()] == [(late.id, "new")]


def test_bulk_items_have_their_own_key_options(queue: Queue) -> None:
    running = queue.claimed(key="running")
    items = [
        NewJob("echo", [1], key="merge", on_conflict="merge"),
        NewJob("echo", 1, key="kept"),
        NewJob("echo", [2], key="merge", on_conflict="merge"),
        NewJob("echo", 2, key="kept", on_conflict="ignore"),
        NewJob("echo", 3, key="kept", on_conflict="raise"),
        NewJob("echo", key="running", unique_while="running"),
        NewJob("echo", key="period", unique_for=LONG),
        NewJob("echo", key="moved", debounce=LONG),
        NewJob("echo"),
    ]
    made = list(enqueue_many(items, connection=queue.database))

    assert [each.outcome for each in made] == [
        "created", "created", "merged", "ignored", "rejected", "ignored", "created", "created", "created",
    ]  # fmt: skip
    assert [each.ordinal for each in made] == list(range(9))
    assert isinstance(made[4], Rejected)
    assert isinstance(made[4].error, KeyTakenError)
    rows = {each.ordinal: queue.row(each.id) for each in made if isinstance(each, Enqueued)}
    assert (rows[0].payload, rows[1].payload, rows[5].id) == ([1, 2], 1, running.id)
    assert queue.waits(rows[7].id, LONG)


def test_bulk_default_applies_to_items_without_an_option(queue: Queue) -> None:
    items = [NewJob("echo", [n], key="k") for n in range(3)] + [
        NewJob("echo", [3], key="k", on_conflict="replace")
    ]
    made = list(enqueue_many(items, on_conflict="merge", connection=queue.database))

    assert [each.outcome for each in made] == ["created", "merged", "merged", "replaced"]
    assert queue.row(made[0].id).payload == [3]  # type: ignore[union-attr]


def test_expired_periods_are_deleted(queue: Queue) -> None:
    for key in ("over", "kept"):
        queue.enqueue(key=key, unique_for=LONG)
    queue.sql("update minutehand.uniques set until = now() where key = 'over'")
    run_maintenance(queue.database)

    assert [row["key"] for row in queue.sql("select key from minutehand.uniques")] == ["kept"]


def test_defaults_of_a_kind_override_those_of_its_queue(queue: Queue) -> None:
    queue.sql(
        "insert into minutehand.queue_defaults (queue, priority, max_attempts) values ('slow', 1, 2), ('mail', 3, 4)"
    )
    queue.sql("insert into minutehand.defaults (kind, queue, priority) values ('welcome', 'mail', 7)")

    def facts(kind: str, **said: Any) -> tuple[str, int, int]:
        row = queue.row(queue.enqueue(kind, **said))
        return row.queue, row.priority, row.max_attempts

    assert facts("echo") == ("default", 5, 8)
    assert facts("echo", queue="slow") == ("slow", 1, 2)
    assert facts("welcome") == ("mail", 7, 4)
    assert facts("welcome", priority=9, max_attempts=1) == ("mail", 9, 1)


def test_recurring_job_has_its_first_time_in_every_interface(queue: Queue) -> None:
    said: dict[str, Any] = {"every": "0 8 * * mon", "zone": "Asia/Tokyo"}
    one = queue.enqueue(key="one", **said)
    (many,) = enqueue_many([NewJob("echo", **said)], connection=queue.database)
    queue.sql("select minutehand.enqueue('echo', key => 'sql', every => 'PT90M')")

    for job_id in (one, many.id):  # type: ignore[union-attr]
        run_at = queue.row(job_id).run_at
        assert (run_at.weekday(), run_at.hour, run_at.minute) == (6, 23, 0)  # Monday's 8 in Tokyo
    rows = queue.sql(
        "select key, every, zone, nominal, run_at, run_at - now() as wait from minutehand.jobs order by key"
    )
    assert all(row["nominal"] == row["run_at"] for row in rows)
    assert [(row["every"], row["zone"]) for row in rows] == [
        ("0 8 * * mon", "Asia/Tokyo"), ("PT90M", None), ("0 8 * * mon", "Asia/Tokyo"),
    ]  # fmt: skip
    assert timedelta(minutes=89) < rows[1]["wait"] <= timedelta(minutes=90)


def test_merged_job_stays_personal(direct_queue: Queue) -> None:
    job_id = direct_queue.enqueue(payload={"a": 1}, key="k")
    again(direct_queue, {"name": "Ada"}, personal=True, on_conflict="merge")
    again(direct_queue, {"b": 2}, on_conflict="merge")
    (job,) = direct_queue.take()

    finish(job, Done())

    assert direct_queue.row(job_id).payload is None


def test_open_transaction_on_an_expired_key_does_not_block_a_tick(direct_queue: Queue) -> None:
    for key in ("k", "another"):
        direct_queue.enqueue(key=key, unique_for=MINUTE)
    direct_queue.sql("update minutehand.uniques set until = now() - interval '1 hour'")
    enqueuer = direct_queue.another()
    with enqueuer.transaction():
        enqueue("echo", key="k", unique_for=MINUTE, connection=enqueuer)

        assert direct_queue.let(run_maintenance, direct_queue.another()).result(LONG.total_seconds()).swept

    assert direct_queue.sql("select key from minutehand.uniques") == [{"key": "k"}]
