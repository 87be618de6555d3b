"""The job that a test expects, and messages about how the enqueued jobs differ from it."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from minutehand.model.payload import decode, encode
from minutehand.model.row import Row

MAX_LISTED = 20
MAX_VALUE_LENGTH = 200


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The expected properties of a job; None matches any value.

    A payload and headers match if they contain the expected members.
    """

    kind: str | None = None
    payload: object = None
    queue: str | None = None
    key: str | None = None
    run_at: datetime | None = None
    headers: Mapping[str, str] | None = None

    def differences(self, row: Row) -> list[str]:
        """Describe how a job differs from the expected one."""
        expected = self._properties()
        return [
            difference
            for name in expected
            for difference in _compare(name, expected[name], getattr(row, name))
        ]

    def _properties(self) -> dict[str, Any]:
        return {
            field.name: _plain(value)
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) is not None
        }

    def __str__(self) -> str:
        """Describe the job in one line."""
        text = ", ".join(f"{name} {_short(value)}" for name, value in self._properties().items())
        return f"a job with {text}" if text else "any job"


def describe_missing(expected: Expected, enqueued: Sequence[Row], begun: Sequence[Row]) -> str:
    """Return the message for no match, or more than one, with the jobs that exist."""
    matching = [row for row in enqueued if not expected.differences(row)]
    if matching:
        return _lines(f"{expected} is enqueued {len(matching)} times, expected once:", matching)
    if not enqueued and not begun:
        return (
            f"{expected} is not enqueued; no job is. To see the jobs of an open transaction, commit it or use "
            "queue.within(connection)"
        )
    if started := [row for row in begun if not expected.differences(row)]:
        return _lines(f"{expected} is no longer enqueued:", started)
    return _lines(f"{expected} is not enqueued; enqueued jobs:", enqueued, expected)


def describe_unexpected(expected: Expected, matching: Sequence[Row]) -> str:
    """Return the message for jobs that must not be enqueued."""
    return _lines(f"{expected} is enqueued but should not be:", matching)


def describe(row: Row) -> str:
    """Describe a job in one line."""
    key = f", key {row.key!r}" if row.key else ""
    when = f" at {row.visible:%Y-%m-%d %H:%M:%S%z}" if row.state in ("scheduled", "retrying") else ""
    return f"{row.kind} ({row.state}{when}, queue {row.queue!r}{key}) {_short(row.payload)}"


def _lines(head: str, rows: Sequence[Row], expected: Expected | None = None) -> str:
    lines = [head]
    for row in rows[:MAX_LISTED]:
        lines.append(f"  {describe(row)}")
        lines += [f"      {difference}" for difference in (expected.differences(row) if expected else ())]
    if len(rows) > MAX_LISTED:
        lines.append(f"  and {len(rows) - MAX_LISTED} more")
    return "\n".join(lines if rows else [f"{head} nothing"])


def _compare(path: str, expected: Any, found: Any) -> list[str]:
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return [each for name in expected for each in _compare_member(path, name, expected, found)]
    if isinstance(expected, list | tuple) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [each for place, pair in pairs for each in _compare(f"{path}[{place}]", *pair)]
    return [] if expected == found else [f"{path} is {_short(found)}, not {_short(expected)}"]


def _compare_member(path: str, name: Any, expected: Mapping[Any, Any], found: Mapping[Any, Any]) -> list[str]:
    if name not in found:
        return [f"{path} has no {name!r}"]
    return _compare(f"{path}.{name}", expected[name], found[name])


def _plain(value: Any) -> Any:
    """Return the payload of a dataclass or a pydantic model; other values unchanged."""
    is_model = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return decode(encode(value)) if is_model or hasattr(value, "model_dump") else value


def _short(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(value) if isinstance(value, datetime) else repr(value)
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}…"
