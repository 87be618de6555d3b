"""The audit trail: who did what by hand, and when, in the transaction that did it; and never a payload."""

from datetime import timedelta
from uuid import UUID

import pytest

from minutehand import InvalidJobError
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.operations.audit import list_audit, record
from minutehand.operations.controls import limit, pause, resume, unlimit
from minutehand.operations.edit import edit
from minutehand.operations.jobs import cancel, promote, purge, remove, replay, reschedule, retry
from tests.queue.stage import LONG, Queue

ERROR = {"type": "ValueError", "message": "no", "trace": ""}


def test_every_verb_writes_who_did_what_and_when(queue: Queue) -> None:
    db, dead = queue.database, queue.claimed(max_attempts=1)
    finish(dead, Failed(ERROR))
    job = queue.enqueue(delay=LONG)
    (before,) = queue.sql("select clock_timestamp() as now")
    promote(db, [job], who="a")
    reschedule(db, [job], delay=LONG, who="b")
    edit(db, [job], priority=1, who="c")
    cancel(db, [job], "not now", who="d")
    retry(db, [job], who="e")
    (again,) = replay(db, [dead.id], who="f")
    remove(db, [job], who="g")
    pause(db, queue="mail", why="release", who="h")
    resume(db, queue="mail", who="i")
    limit(db, 3, kind="slow", who="j")
    unlimit(db, kind="slow", who="k")
    promote(db, [again.new] if again.new else [])
    (running,) = queue.take()
    cancel(db, [running.id], "stop", running=True, who="l")
    finish(running, Done())
    (after,) = queue.sql("select clock_timestamp() + interval '1 day' as now")
    list(purge(db, after["now"], who="m"))

    entries = list_audit(db, most=100)[::-1]
    told = [(entry.who, entry.verb) for entry in entries if entry.who in "abcdefghijklm"]
    assert told == [
        ("a", "promote"), ("b", "reschedule"), ("c", "edit"), ("d", "cancel"), ("e", "retry"), ("f", "replay"),
        ("g", "remove"), ("h", "pause"), ("i", "resume"), ("j", "limit"), ("k", "unlimit"), ("l", "cancel_running"),
        ("m", "purge"),
    ]  # fmt: skip
    assert all(before["now"] <= entry.at <= after["now"] for entry in entries)
    assert {entry.job for entry in entries if entry.who in "abcdeg"} == {job}
    facts = {entry.who: entry.facts for entry in entries}
    assert facts["d"] == {"reason": "not now"}
    assert facts["h"] == {"queue": "mail", "why": "release", "recalled": 0}
    assert facts["k"] == {"kind": "slow", "was_most": 3}


def test_what_is_refused_is_not_written_down(queue: Queue) -> None:
    running = queue.claimed()
    for verb in (cancel, promote, retry, remove, replay):
        verb(queue.database, [running.id], who="ada")  # type: ignore[operator]

    assert list_audit(queue.database) == []


def test_who_is_the_databases_user_where_nobody_says(queue: Queue) -> None:
    promote(queue.database, [queue.enqueue()])

    (row,) = queue.sql("select session_user::text as who")
    assert [entry.who for entry in list_audit(queue.database)] == [row["who"]]


def test_a_change_that_is_rolled_back_takes_its_line_with_it(queue: Queue) -> None:
    job = queue.enqueue(delay=LONG)
    with pytest.raises(ZeroDivisionError), queue.database.transaction():  # noqa: PT012
        promote(queue.database, [job], who="ada")
        pause(queue.database, queue="mail", who="ada")
        raise ZeroDivisionError

    assert list_audit(queue.database) == []
    assert queue.row(job).state == "scheduled"


def test_a_line_that_cannot_be_written_takes_its_change_with_it(queue: Queue) -> None:
    job = queue.enqueue(delay=LONG)
    queue.sql("alter table minutehand.audit add constraint full_up check (false)")
    for change in (lambda: promote(queue.database, [job]), lambda: pause(queue.database, queue="mail")):
        with pytest.raises(Exception, match=r"full.up"):
            change()

    assert queue.row(job).state == "scheduled"
    assert queue.sql("select from minutehand.controls") == []


def test_no_payload_gets_into_the_trail(queue: Queue) -> None:
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
    remove(queue.database, [job])

    rows = queue.sql("select a::text as line from minutehand.audit a")
    assert len(rows) == 8
    assert not [row for row in rows if "horse" in row["line"]]
    for name in ("payload", "headers", "result"):
        with pytest.raises(ValueError, match=name):
            record(queue.database, "edit", None, job, **{name: secret})


def test_the_trail_is_read_by_job_by_who_and_by_verb_page_by_page(queue: Queue) -> None:
    jobs = [queue.enqueue(delay=timedelta(hours=1)) for _ in range(3)]
    for who in ("ada", "bob"):
        for job in jobs:
            promote(queue.database, [job], who=who)
    cancel(queue.database, jobs[:1], who="ada")

    assert [(e.who, e.verb) for e in list_audit(queue.database, job=jobs[0])] == [
        ("ada", "cancel"), ("bob", "promote"), ("ada", "promote"),
    ]  # fmt: skip
    assert len(list_audit(queue.database, who="ada")) == 4
    assert len(list_audit(queue.database, verb="promote")) == 6
    seen: list[UUID] = []
    while page := list_audit(queue.database, before=seen[-1] if seen else None, most=3):
        seen += [entry.id for entry in page]
    assert seen == [entry.id for entry in list_audit(queue.database)]
    assert len(seen) == len(set(seen)) == 7
    with pytest.raises(InvalidJobError):
        list_audit(queue.database, most=0)
