"""What a test expects of a job, and how the jobs that there are differ from it, in words."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from minutehand.model.payload import decode, encode
from minutehand.model.row import Row

MOST_TOLD = 20
LONGEST_VALUE = 200


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is expected of a job; None expects nothing.

    Of a payload and of headers the members that are named must be there, whatever else is.
    """

    kind: str | None = None
    payload: object = None
    queue: str | None = None
    key: str | None = None
    run_at: datetime | None = None
    headers: Mapping[str, str] | None = None

    def differences(self, row: Row) -> list[str]:
        """Say where a job is not as expected."""
        wanted = self._asked()
        return [said for name in wanted for said in _compare(name, wanted[name], getattr(row, name))]

    def _asked(self) -> dict[str, Any]:
        return {
            field.name: _plain(value)
            for field in dataclasses.fields(self)
            if (value := getattr(self, field.name)) is not None
        }

    def __str__(self) -> str:
        """Say it all."""
        said = ", ".join(f"{name} {_short(value)}" for name, value in self._asked().items())
        return f"a job with {said}" if said else "any job"


def not_one(wanted: Wanted, enqueued: Sequence[Row], finished: Sequence[Row]) -> str:
    """Say that not exactly one job is as expected, and what there is instead."""
    fitting = [row for row in enqueued if not wanted.differences(row)]
    if fitting:
        return _lines(f"{len(fitting)} jobs are enqueued, not one, for {wanted}:", fitting)
    if not enqueued and not finished:
        return (
            f"{wanted} is not enqueued; nothing is. What an open transaction has enqueued is seen when it is "
            "committed, or through queue.within(connection)"
        )
    begun = [row for row in finished if not wanted.differences(row)]
    if begun:
        return _lines(f"{wanted} is not enqueued any more:", begun)
    return _lines(f"{wanted} is not enqueued; what is:", enqueued, wanted)


def not_none(wanted: Wanted, fitting: Sequence[Row]) -> str:
    """Say that jobs are there that should not be."""
    return _lines(f"{wanted} is enqueued, and should not be:", fitting)


def tell(row: Row) -> str:
    """Say what a job is, in one line."""
    key = f", key {row.key!r}" if row.key else ""
    when = f" at {row.visible:%Y-%m-%d %H:%M:%S%z}" if row.state in ("scheduled", "retrying") else ""
    return f"{row.kind} ({row.state}{when}, queue {row.queue!r}{key}) {_short(row.payload)}"


def _lines(head: str, rows: Sequence[Row], wanted: Wanted | None = None) -> str:
    lines = [head]
    for row in rows[:MOST_TOLD]:
        lines.append(f"  {tell(row)}")
        lines += [f"      {said}" for said in (wanted.differences(row) if wanted else ())]
    if len(rows) > MOST_TOLD:
        lines.append(f"  and {len(rows) - MOST_TOLD} more")
    return "\n".join(lines if rows else [f"{head} nothing"])


def _compare(path: str, wanted: Any, found: Any) -> list[str]:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return [said for name in wanted for said in _compare_member(path, name, wanted, found)]
    if isinstance(wanted, list | tuple) and isinstance(found, list) and len(wanted) == len(found):
        pairs = enumerate(zip(wanted, found, strict=True))
        return [said for place, pair in pairs for said in _compare(f"{path}[{place}]", *pair)]
    return [] if wanted == found else [f"{path} is {_short(found)}, not {_short(wanted)}"]


def _compare_member(path: str, name: Any, wanted: Mapping[Any, Any], found: Mapping[Any, Any]) -> list[str]:
    if name not in found:
        return [f"{path} has no {name!r}"]
    return _compare(f"{path}.{name}", wanted[name], found[name])


def _plain(value: Any) -> Any:
    """Return a dataclass or a pydantic model as the payload that it becomes."""
    is_model = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return decode(encode(value)) if is_model or hasattr(value, "model_dump") else value


def _short(value: Any) -> str:
    try:
        said = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        said = str(value) if isinstance(value, datetime) else repr(value)
    return said if len(said) <= LONGEST_VALUE else f"{said[:LONGEST_VALUE]}…"
