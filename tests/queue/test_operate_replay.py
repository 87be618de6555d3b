"""Replay and retry at a rate: finished jobs run again as new jobs or as themselves."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

import pytest

from minutehand import InvalidJobError, Retry
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.again import find_finished, replay_finished, retry_at_rate
from minutehand.operations.audit import list_audit
from minutehand.operations.jobs import cancel, promote, replay
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def done(queue: Queue, version: str | None = None, **options: object) -> UUID:
    """Return a job that is done."""
    job = queue.claimed(**options)  # type: ignore[arg-type]
    finish(job, Done())
    queue.sql(
        "update minutehand.jobs set version = %(version)s where id = %(id)s", version=version, id=job.id
    )
    return job.id


def dead(stage: Queue, **options: object) -> UUID:
    job = stage.claimed(**options)  # type: ignore[arg-type]
    finish(job, Failed(ERROR, final=True))
    return job.id


def test_replay_is_a_new_due_job_with_the_same_values_and_one_attempt(queue: Queue) -> None:
    retry = Retry(strategy="fixed", min=timedelta(seconds=5))
    old = done(
        queue,
        payload={"n": 12345678901234567890, "x": 1.10},
        headers={"a": "1"},
        key="report",
        priority=7,
        retry=retry,
        timeout=LONG,
        max_attempts=5,
    )
    before = queue.row(old)
    (change,) = replay(queue.database, [old], actor="ada")
    (job,) = queue.take()

    assert (change.outcome, change.new) == ("changed", job.id)
    assert job.id != old
    assert (job.payload, job.headers, job.key) == (
        {"n": 12345678901234567890, "x": 1.10},
        {"a": "1"},
        "report",
    )
    assert (job.priority, job.retry, job.timeout, job.max_attempts) == (7, retry, LONG, 1)
    assert queue.row(old) == before
    assert [(e.actor, e.verb, e.job, e.facts) for e in list_audit(queue.database)] == [
        ("ada", "replay", old, {"new": str(job.id)})
    ]


def test_payload_with_nul_characters_is_replayed(direct_queue: Queue) -> None:
    payload = {"a\0": "\0", "b": ["\\u0000"]}
    (change,) = replay(direct_queue.database, [done(direct_queue, payload=payload)])

    assert change.new is not None
    assert direct_queue.row(change.new).payload == payload


def test_payload_is_replayed_verbatim(queue: Queue) -> None:
    old = queue.enqueue()
    text = '{"b": 1.000,  "a": 1e2}'
    queue.sql("update minutehand.jobs set payload = %(text)s::json where id = %(id)s", text=text, id=old)
    cancel(queue.database, [old])
    (change,) = replay(queue.database, [old])

    (row,) = queue.sql("select payload::text from minutehand.jobs where id = %(id)s", id=change.new)
    assert row["payload"] == text


def test_replay_of_a_recurring_job_keeps_its_time_and_does_not_recur(queue: Queue) -> None:
    old = done(queue)
    queue.sql("update minutehand.jobs set every = 'P1D', zone = 'UTC', nominal = '2026-01-01 08:00+00'")
    (change,) = replay(queue.database, [old])

    (row,) = queue.sql("select every, zone, nominal from minutehand.jobs where id = %(id)s", id=change.new)
    assert row == {"every": None, "zone": None, "nominal": datetime(2026, 1, 1, 8, tzinfo=UTC)}


def test_only_finished_jobs_are_replayed(queue: Queue) -> None:
    old, gone = dead(queue), queue.enqueue()
    cancel(queue.database, [gone])
    running, waiting = queue.claimed(), queue.enqueue()
    changes = replay(queue.database, [old, gone, running.id, waiting])

    assert [each.reason or each.outcome for each in changes] == [
        "changed",
        "changed",
        "the job is running; only finished jobs can be replayed",
        "the job is due; only finished jobs can be replayed",
    ]


def test_replay_with_a_taken_key_is_refused_without_a_suffix(queue: Queue) -> None:
    old = done(queue, key="report")
    upcoming = queue.enqueue(key="report", payload="own", delay=LONG)

    (refused,) = replay(queue.database, [old])
    (made,) = replay(queue.database, [old], suffix="/again")
    assert (refused.outcome, refused.reason) == ("refused", "another unfinished job has its key")
    assert made.new is not None
    assert queue.row(made.new).key == "report/again"
    assert queue.row(upcoming).payload == "own"


def test_job_with_an_erased_payload_is_not_replayed_or_retried(queue: Queue) -> None:
    old = dead(queue, payload={"name": "Ada"}, personal=True)
    queue.sql("update minutehand.jobs set payload = 'null' where id = %(id)s", id=old)

    (change,) = replay(queue.database, [old])
    assert (change.outcome, change.reason) == ("refused", "its personal payload has been erased")
    assert [each.outcome for each in retry_at_rate(queue.database, 60)] == ["refused"]


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"older_than": "1.10"}, ["1.2", "1.9.3", None]),
        ({"other_than": "1.10"}, ["1.2", "1.9.3", "2.0", None]),
        ({"older_than": "2.0", "kind": "other"}, ["1.2"]),
        ({"queue": "nowhere"}, []),
    ],
)
def test_jobs_finished_by_older_or_other_code_are_replayed(
    queue: Queue, filter: dict[str, str], expected: list[str | None]
) -> None:
    jobs = {
        done(queue, version, kind="other" if version == "1.2" else "echo"): version
        for version in ["1.2", "1.9.3", "1.10", "2.0", None]
    }
    changes = list(replay_finished(queue.database, **filter))  # type: ignore[call-overload]

    assert sorted(str(jobs[each.id]) for each in changes) == sorted(map(str, expected))
    assert {each.outcome for each in changes} <= {"changed"}
    assert len(queue.take(10)) == len(expected)


def test_replay_by_version_continues_after_its_limit(queue: Queue) -> None:
    jobs = [done(queue, "1.0") for _ in range(5)]

    rounds = [
        [each.id for each in replay_finished(queue.database, older_than="2.0", limit=2)] for _ in range(4)
    ]
    assert [len(each) for each in rounds] == [2, 2, 1, 0]
    assert sorted(each for ids in rounds for each in ids) == sorted(jobs)
    assert len(list(replay_finished(queue.database, older_than="3.0"))) == 5


def test_latest_of_several_jobs_with_one_key_is_replayed(queue: Queue) -> None:
    for payload in ("first", "second"):
        done(queue, "1.0", key="report", payload=payload)
    changes = list(replay_finished(queue.database, older_than="2.0"))

    assert sorted(each.outcome for each in changes) == ["changed", "refused"]
    assert [job.payload for job in queue.take(10)] == ["second"]


def test_repeated_replay_leaves_older_jobs_of_a_key_alone(queue: Queue) -> None:
    done(queue, "1.0")
    for payload in ("first", "second"):
        done(queue, "1.0", key="report", payload=payload)

    def replayed() -> list[object]:
        list(replay_finished(queue.database, older_than="2.0", limit=1))
        jobs = queue.take(10)
        for job in jobs:
            finish(job, Done())
            queue.sql("update minutehand.jobs set version = '2.0' where id = %(id)s", id=job.id)
        return [job.payload for job in jobs]

    assert [replayed() for _ in range(3)] == [["second"], [None], []]
    done(queue, "1.0", key="report", payload="of older code")
    assert replayed() == ["of older code"]


def test_replays_are_spread_over_the_window_deterministically(queue: Queue) -> None:
    day = timedelta(days=1)
    for _ in range(40):
        done(queue, "1.0")
    places = []
    for version in ("2.0", "3.0"):
        new = {each.new: each.id for each in replay_finished(queue.database, older_than=version, window=day)}
        rows = queue.sql(
            "select id, visible - now() as wait from minutehand.jobs_live where id = any (%(ids)s)",
            ids=list(new),
        )
        places.append(sorted((row["wait"], new[row["id"]]) for row in rows))
        promote(queue.database, list(new))  # type: ignore[arg-type]
        queue.sql("delete from minutehand.jobs_live")

    waits = [wait for wait, _ in places[0]]
    assert timedelta(minutes=-1) < waits[0] < day / 2 < waits[-1] < day
    assert [job_id for _, job_id in places[0]] == [job_id for _, job_id in places[1]]


def test_dead_jobs_are_retried_at_the_rate(queue: Queue) -> None:
    jobs = [dead(queue, max_attempts=1) for _ in range(4)]
    done(queue)
    changes = list(retry_at_rate(queue.database, per_minute=2, actor="ada"))

    assert [each.outcome for each in changes] == ["changed"] * 4
    rows = queue.sql("select id, attempts, visible from minutehand.jobs_live order by visible")
    assert {row["id"] for row in rows} == set(jobs)
    gaps = {round((later["visible"] - row["visible"]).total_seconds()) for row, later in pairwise(rows)}
    assert gaps == {30}
    assert {row["attempts"] for row in rows} == {0}
    assert [entry.verb for entry in list_audit(queue.database, actor="ada")] == ["retry"] * 4


def test_finished_jobs_are_found_by_queue_kind_key_and_time(queue: Queue) -> None:
    mail, invoice = dead(queue, queue="mail"), dead(queue, kind="invoice", key="report")
    moment = queue.sql("select clock_timestamp() as now")[0]["now"]
    late = dead(queue)

    assert find_finished(queue.database, states=["dead"], queue="mail") == [mail]
    assert find_finished(queue.database, states=["dead"], kind="invoice") == [invoice]
    assert find_finished(queue.database, states=["dead"], key="report") == [invoice]
    assert find_finished(queue.database, states=["dead"], since=moment) == [late]
    assert find_finished(queue.database, states=["dead"], before=moment) == [invoice, mail]
    assert [each.id for each in retry_at_rate(queue.database, 60, limit=1)] == [late]


@pytest.mark.parametrize("rate", [0, -1, float("nan"), 10_000_000])
def test_rate_must_be_in_range(direct_queue: Queue, rate: float) -> None:
    with pytest.raises(InvalidJobError):
        list(retry_at_rate(direct_queue.database, rate))
