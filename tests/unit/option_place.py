"""Place: a part of a file that repeats the job options, and what its text contains."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from minutehand.model.new_job import OPTIONS

ROOT = Path(__file__).parents[2]
LIBRARY = "shared/minutehand"
STORED = {name for name, option in OPTIONS.items() if option.stored}
TEXTS = ("text", "json", "jsonb")


@dataclass(frozen=True)
class Place:
    """A part of a file, the options that it has, and those that it must have."""

    file: str
    part: str
    found: set[str]
    required: set[str]

    def missing(self) -> list[str]:
        """Return what to add."""
        return [
            f"{self.file}: add {name} to {self.part}"
            for name in OPTIONS
            if name in self.required - self.found
        ]


def function(file: str, name: str) -> str:
    """Return the text of a database function."""
    path = f"{LIBRARY}/schema/functions/{file}.sql"
    return between(text(path), f"function minutehand.{name}(", "\n$$;")


def text(path: str) -> str:
    """Return a file's text."""
    return (ROOT / path).read_text()


def between(whole: str, start: str, end: str) -> str:
    """Return the text after the first `start`, up to the next `end`."""
    _, found, rest = whole.partition(start)
    assert found, f"expected {start!r}"
    return rest.partition(end)[0]


def names(part: str, pattern: str = r"\b(\w+)\b") -> set[str]:
    """Return what the group of the pattern matches."""
    found: Iterable[str] = re.findall(pattern, part)
    return set(found)
