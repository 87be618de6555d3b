"""Slots: the parts of the capacity that a worker's jobs have freed, and the jobs for which it may use them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Slots:
    """The times at which a worker's jobs ended, by the database's clock, and what suits the worker.

    `kinds` says of patterns whether the worker serves such kinds, and the first match applies; without a match it
    does. A job suits it whose timeout is not longer than the time left. Without a timeout, the time that a job needs is
    that of its kind in `seconds`, or `otherwise`.
    """

    freed: Sequence[datetime]
    kinds: Mapping[str, bool] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    otherwise: float = 0.0

    @property
    def only(self) -> str:
        """What suits the worker, as JSON for the statement `take`."""
        only: dict[str, object] = {"seconds": dict(self.seconds), "otherwise": self.otherwise}
        if self.kinds:
            only["kinds"] = [[expression(pattern), serves] for pattern, serves in self.kinds.items()]
        return json.dumps(only)


def expression(pattern: str) -> str:
    """Return a pattern of `fnmatch` as a regular expression of Postgres."""
    parts, rest = [], pattern
    while rest:
        first, rest = rest[0], rest[1:]
        # A set has at least one character, which may be the closing bracket.
        end = rest.find("]", 1 + rest.startswith("!")) if first == "[" else -1
        if end > 0:
            parts.append(_set(rest[:end]))
            rest = rest[end + 1 :]
        else:
            parts.append(_character(first))
    return f"^{''.join(parts)}$"


def _set(characters: str) -> str:
    excluded = characters.startswith("!")
    escaped = re.sub(r"[\\^[]", r"\\\g<0>", characters[excluded:])
    return f"[{'^' * excluded}{escaped}]"


def _character(character: str) -> str:
    if character in "*?":
        return ".*" if character == "*" else "."
    return character if character.isalnum() or character == "_" else f"\\{character}"
