"""Hostile text in any place is rejected by a rule, or stored unchanged."""

from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from minutehand import MinutehandError, NewJob, Rejected, enqueue, enqueue_many
from minutehand.finish import finish
from minutehand.model.outcome import Cancelled
from minutehand.operations.jobs import cancel
from minutehand.queries.jobs import get, list_jobs
from tests.queue.stage import Queue
from tests.thorough import examples

FRAGMENTS = [
    "'; drop table minutehand.jobs; --",
    "$$",
    "%s",
    "%(id)s",
    "%",
    "{}",
    "\\",
    "\\0",
    "\0",
    "\\u0000",
    "\ud800",
    "\U0010ffff",
    "\u202e",
    "\ufeff",
    "../",
    "../../etc/passwd",
    "__import__('os')",
    "null",
    "NULL",
    "\\N",
    "\\.",
    "\t",
    "\r\n",
    ",",
    '"',
    "'",
    "`",
    "a",
    "default",
    "echo",
    "x" * 101,
    "k" * 1025,
    "é" * 512,
    "\u0661",
    "\uff45cho",
    "\u2167",
]
HOSTILE = st.one_of(
    st.text(st.characters(), max_size=30),
    st.lists(st.sampled_from(FRAGMENTS), max_size=4).map("".join),
    st.from_regex(r"\A[A-Za-z][A-Za-z0-9_.]{0,20}\Z"),
)
MANY = examples(40, 400)
OPTIONS = st.fixed_dictionaries(
    {"kind": HOSTILE},
    optional={
        "payload": HOSTILE,
        "queue": HOSTILE,
        "key": HOSTILE,
        "headers": st.dictionaries(HOSTILE, HOSTILE, max_size=2),
        "on_conflict": st.sampled_from(["replace", "ignore", "raise"]) | HOSTILE,
    },
)


def facts(queue: Queue, job_id: Any, options: dict[str, Any]) -> dict[str, Any]:
    row = get(queue.database, job_id)
    return {name: getattr(row, name) for name in options if name != "on_conflict"}


def expected(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "on_conflict"}


@MANY
@given(options=OPTIONS)
@example(options={"kind": "echo", "key": "\0"})
@example(options={"kind": "echo", "payload": "a\0b"})
@example(options={"kind": "echo", "headers": {"\0": "\0"}})
def test_enqueue_rejects_hostile_text_or_stores_it_unchanged(
    direct_queue: Queue, options: dict[str, Any]
) -> None:
    try:
        made = enqueue(**options, connection=direct_queue.database)
    except MinutehandError:
        return
    assert made.outcome == "ignored" or facts(direct_queue, made.id, options) == expected(options)


@MANY
@given(options=OPTIONS)
@example(options={"kind": "echo", "key": "\\N"})
@example(options={"kind": "echo", "payload": "\\."})
@example(options={"kind": "echo", "headers": {"\t": "\\n"}})
def test_bulk_rejects_hostile_text_or_stores_it_unchanged(
    direct_queue: Queue, options: dict[str, Any]
) -> None:
    job = NewJob(**expected(options))
    modes = {name: value for name, value in options.items() if name == "on_conflict"}
    (made, neighbour) = enqueue_many(
        [job, NewJob("echo", "neighbour")], **modes, connection=direct_queue.database
    )

    if isinstance(made, Rejected):
        assert str(made.error)
    else:
        assert made.outcome == "ignored" or facts(direct_queue, made.id, options) == expected(options)
        assert neighbour.outcome == "created"


@MANY
@given(text=HOSTILE)
def test_queries_accept_hostile_text_or_name_the_rule(direct_queue: Queue, text: str) -> None:
    direct_queue.enqueue("echo", key="there")
    for options in ({"queue": text}, {"kind": text}, {"key": text}, {"states": [text]}):
        assume(text not in ("echo", "default", "there"))
        try:
            rows = list_jobs(direct_queue.database, **options).rows  # type: ignore[arg-type]
        except MinutehandError:
            continue
        assert rows == ()


@MANY
@given(text=HOSTILE)
def test_reason_and_error_accept_any_text(direct_queue: Queue, text: str) -> None:
    job = direct_queue.claimed()
    assert finish(job, Cancelled({"type": "Cancelled", "message": "stored"})).ending == "cancelled"
    waiting = direct_queue.enqueue(delay=None)
    try:
        (change,) = cancel(direct_queue.database, [waiting], text)
    except MinutehandError:
        direct_queue.sql("delete from minutehand.jobs_live")
        return
    assert change.outcome == "changed"
    assert (direct_queue.row(waiting).error or {})["message"] == text


@MANY
@given(text=HOSTILE)
def test_exception_of_any_text_is_stored(direct_queue: Queue, text: str) -> None:
    def handler(_payload: object) -> None:
        raise ValueError(text)

    job_id = direct_queue.enqueue(max_attempts=1)
    (ending,) = direct_queue.work(handler)

    assert ending.ending == "dead"
    assert (direct_queue.row(job_id).error or {})["type"] == "ValueError"
