"""Each error has its own type, and stored errors can be redacted."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest

import minutehand.aws.inspect
import minutehand.errors
import minutehand.local.errors
from minutehand import Cancel, Fail, MinutehandError, RetryAfter
from minutehand.attempts.in_turn import run_jobs
from minutehand.handlers import HandlerTable
from minutehand.tracing.context import current
from tests.queue.stage import LONG, Queue

MARK = "mark-4711"
PAGE = Path(__file__).parents[2] / "docs" / "events.md"
LINE = re.compile(r"^([│├└─ ]*)(\w+Error)\b", re.MULTILINE)


def tree(error: type[MinutehandError] = MinutehandError) -> dict[str, str]:
    """Return the parent of each error, by name."""
    below = [each for each in error.__subclasses__() if not each.__module__.startswith("tests.")]
    found = {each.__name__: error.__name__ for each in below}
    for each in below:
        found |= tree(each)
    return found


def hierarchy(text: str) -> dict[str, str]:
    """Return the parent of each error in a drawing."""
    parents: dict[str, str] = {}
    above: dict[int, str] = {}
    for line in LINE.finditer(text):
        depth = len(line[1]) // 4
        above[depth] = line[2]
        if depth:
            parents[line[2]] = above[depth - 1]
    return parents


def test_error_hierarchy_is_in_the_docstring_and_on_the_page() -> None:
    own = {
        error.__name__: error.__bases__[0].__name__
        for error in vars(minutehand.errors).values()
        if isinstance(error, type) and issubclass(error, MinutehandError) and error is not MinutehandError
    }

    assert hierarchy(minutehand.errors.__doc__ or "") == own
    assert hierarchy(PAGE.read_text("utf-8")) == own


def test_each_error_has_a_type_derived_from_its_name() -> None:
    types: dict[str, str] = {}
    for name in tree():
        error = next(each for each in all_errors() if each.__name__ == name)
        assert error.type not in types, f"{name} and {types[error.type]}"
        types[error.type] = name

    assert minutehand.errors.KeyTakenError("taken").type == "key_taken"
    assert minutehand.errors.PayloadError.type == "payload"


def all_errors(error: type[MinutehandError] = MinutehandError) -> list[type[MinutehandError]]:
    return [error, *(each for below in error.__subclasses__() for each in all_errors(below))]


def breaks(_: Any) -> None:
    raise ValueError(MARK)


def fails_with_cause(_: Any) -> None:
    try:
        breaks(_)
    except ValueError as error:
        raise Fail("no such invoice") from error


def retries(_: Any) -> None:
    raise RetryAfter(LONG, "the bank is closed")


def cancels(_: Any) -> None:
    raise Cancel("the customer left")


def test_errors_are_stored_in_full_by_default(direct_queue: Queue) -> None:
    job_id, _ = direct_queue.attempt(breaks)

    error = direct_queue.row(job_id).error or {}
    assert (error["type"], error["message"]) == ("ValueError", MARK)
    assert "breaks" in error["trace"]


def test_redacted_error_is_an_id_in_the_row_and_full_in_the_log(
    direct_queue: Queue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MINUTEHAND_REDACT_ERRORS", "1")
    with caplog.at_level(logging.ERROR):
        job_id, _ = direct_queue.attempt(breaks)

    error = direct_queue.row(job_id).error or {}
    assert set(error) == {"type", "message"}
    match = re.fullmatch(r"Unknown error: ([0-9a-f-]{36})", error["message"])
    assert match is not None
    (record,) = caplog.records
    assert record.getMessage() == f"unknown error: {match[1]}"
    assert MARK in caplog.text
    assert MARK not in str(direct_queue.sql("select * from minutehand.jobs, minutehand.attempts"))


def test_error_is_logged_in_the_trace_of_its_job(
    direct_queue: Queue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where nothing gets the events, too."""
    monkeypatch.setattr("minutehand.events.hooks._hooks", {})
    monkeypatch.setenv("MINUTEHAND_REDACT_ERRORS", "1")
    ids: list[str] = []

    def note(_: logging.LogRecord) -> bool:
        ids.append(current().correlation)
        return True

    caplog.handler.addFilter(note)
    direct_queue.attempt(breaks, headers={"correlation-id": "request-1"})

    assert ids == ["request-1"]


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (fails_with_cause, {"type": "Fail", "message": "no such invoice"}),
        (retries, {"type": "RetryAfter", "message": "the bank is closed"}),
        (cancels, {"type": "Cancelled", "message": "the customer left"}),
    ],
)
def test_redaction_keeps_deliberate_messages_without_their_cause(
    direct_queue: Queue,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    handler: Any,
    expected: Any,
) -> None:
    monkeypatch.setenv("MINUTEHAND_REDACT_ERRORS", "1")
    job_id, _ = direct_queue.attempt(handler)

    assert direct_queue.row(job_id).error == expected
    # asyncio logs when it frees a task that the handler of another test left.
    assert [each for each in caplog.records if each.name != "asyncio"] == []


def test_payload_mismatch_is_redacted_and_dead(direct_queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    from pydantic import BaseModel

    class Letter(BaseModel):
        to: int

    def post(letter: Letter) -> None:
        raise AssertionError("called")

    monkeypatch.setenv("MINUTEHAND_REDACT_ERRORS", "1")
    direct_queue.enqueue(payload={"to": MARK})
    (ending,) = run_jobs(direct_queue.take(), HandlerTable({"echo": post}), lambda: False)

    assert ending.ending == "dead"
    assert "Unknown error" in (ending.error or {})["message"]
