"""The audit trail: each change with its actor, in the transaction of the change, without payloads."""

from datetime import timedelta
from uuid import UUID

import pytest

from minutehand import InvalidJobError, Retry
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.audit import list_audit, record
from minutehand.operations.controls import limit, pause, resume, unlimit
from minutehand.operations.defaults import Defaults, set_defaults
from minutehand.operations.deletion import delete, delete_finished
from minutehand.operations.edit import edit
from minutehand.operations.jobs import cancel, promote, replay, reschedule, retry
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def test_every_change_is_recorded_with_its_actor(queue: Queue) -> None:
    db, dead = queue.database, queue.claimed(max_attempts=1)
    finish(dead, Failed(ERROR))
    job = queue.enqueue(delay=LONG)
    (before,) = queue.sql("select clock_timestamp() as now")
    promote(db, [job], actor="a")
    reschedule(db, [job], delay=LONG, actor="b")
    edit(db, [job], priority=1, actor="c")
    cancel(db, [job], "not now", actor="d")
    retry(db, [job], actor="e")
    (again,) = replay(db, [dead.id], actor="f")
    delete(db, [job], actor="g")
    pause(db, queue="mail", reason="release", actor="h")
    resume(db, queue="mail", actor="i")
    limit(db, 3, kind="slow", actor="j")
    unlimit(db, kind="slow", actor="k")
    promote(db, [again.new] if again.new else [])
    (running,) = queue.take()
    cancel(db, [running.id], "stop", running=True, actor="l")
    finish(running, Done())
    (after,) = queue.sql("select clock_timestamp() + interval '1 day' as now")
    list(delete_finished(db, after["now"], actor="m"))

    entries = list_audit(db, limit=100)[::-1]
    reported = [(entry.actor, entry.verb) for entry in entries if entry.actor in "abcdefghijklm"]
    verbs = (
        "promote reschedule edit cancel retry replay delete pause resume limit unlimit cancel_running delete"
    )
    assert reported == list(zip("abcdefghijklm", verbs.split(), strict=True))
    assert all(before["now"] <= entry.at <= after["now"] for entry in entries)
    assert {entry.job for entry in entries if entry.actor in "abcdeg"} == {job}
    facts = {entry.actor: entry.facts for entry in entries}
    assert facts["d"] == {"reason": "not now"}
    assert facts["h"] == {"queue": "mail", "reason": "release", "recalled": 0}
    assert facts["k"] == {"kind": "slow", "was_limit": 3}


def test_refused_change_is_not_recorded(queue: Queue) -> None:
    running = queue.claimed()
    for verb in (cancel, promote, retry, delete, replay):
        verb(queue.database, [running.id], actor="ada")  # type: ignore[operator]

    assert list_audit(queue.database) == []


def test_actor_defaults_to_the_database_user(queue: Queue) -> None:
    promote(queue.database, [queue.enqueue()])

    (row,) = queue.sql("select session_user::text as who")
    assert [entry.actor for entry in list_audit(queue.database)] == [row["who"]]


def test_rolled_back_change_is_not_recorded(queue: Queue) -> None:
    job = queue.enqueue(delay=LONG)
    with pytest.raises(ZeroDivisionError), queue.database.transaction():  # noqa: PT012
        promote(queue.database, [job], actor="ada")
        pause(queue.database, queue="mail", actor="ada")
        raise ZeroDivisionError

    assert list_audit(queue.database) == []
    assert queue.row(job).state == "scheduled"


def test_change_fails_if_it_cannot_be_recorded(queue: Queue) -> None:
    job = queue.enqueue(delay=LONG)
    queue.sql("alter table minutehand.audit add constraint full_up check (false)")
    for change in (lambda: promote(queue.database, [job]), lambda: pause(queue.database, queue="mail")):
        with pytest.raises(Exception, match=r"full.up"):
            change()

    assert queue.row(job).state == "scheduled"
    assert queue.sql("select 1 from minutehand.controls") == []


def test_trail_has_no_payload(queue: Queue) -> None:
    secret = "correct horse battery staple"
    dead = queue.claimed(payload={"a": secret}, headers={"b": secret}, max_attempts=1)
    finish(dead, Failed({**ERROR, "message": secret}))
    job = queue.enqueue(payload=secret, headers={"a": secret})
    edit(queue.database, [job], payload=[secret], headers={"b": secret})
    promote(queue.database, [job])
    cancel(queue.database, [job])
    retry(queue.database, [job, dead.id])
    cancel(queue.database, [dead.id])
    replay(queue.database, [dead.id])
    delete(queue.database, [job])

    rows = queue.sql("select a::text as line from minutehand.audit a")
    assert len(rows) == 8
    assert not [row for row in rows if "horse" in row["line"]]
    for name in ("payload", "headers", "result"):
        with pytest.raises(ValueError, match=name):
            record(queue.database, "edit", None, job, **{name: secret})


def test_trail_is_filtered_and_paged(queue: Queue) -> None:
    jobs = [queue.enqueue(delay=timedelta(hours=1)) for _ in range(3)]
    for actor in ("ada", "bob"):
        for job in jobs:
            promote(queue.database, [job], actor=actor)
    cancel(queue.database, jobs[:1], actor="ada")

    assert [(e.actor, e.verb) for e in list_audit(queue.database, job=jobs[0])] == [
        ("ada", "cancel"),
        ("bob", "promote"),
        ("ada", "promote"),
    ]
    assert len(list_audit(queue.database, actor="ada")) == 4
    assert len(list_audit(queue.database, verb="promote")) == 6
    seen: list[UUID] = []
    while page := list_audit(queue.database, before=seen[-1] if seen else None, limit=3):
        seen += [entry.id for entry in page]
    assert seen == [entry.id for entry in list_audit(queue.database)]
    assert len(seen) == len(set(seen)) == 7
    with pytest.raises(InvalidJobError):
        list_audit(queue.database, limit=0)


def test_defaults_are_recorded_with_their_actor(queue: Queue) -> None:
    retry = Retry(strategy="fixed", min=timedelta(seconds=5))
    set_defaults(queue.database, Defaults(kind="echo", priority=9, retry=retry), actor="ada")
    set_defaults(queue.database, Defaults(queue="mail", max_attempts=3), actor="bob")

    queued, kind = list_audit(queue.database, verb="defaults")
    assert (queued.actor, queued.facts) == ("bob", {"queue": "mail", "max_attempts": 3})
    assert (kind.actor, kind.facts["kind"], kind.facts["priority"]) == ("ada", "echo", 9)
    assert kind.facts["retry"]["strategy"] == "fixed"
