"""YAML as text: add blocks to a template without a YAML library, so that comments and tags stay as they are.

Only templates in block style can be changed: the sections are keys at the start of a line.
"""

import re
from collections.abc import Sequence

from minutehand.project.errors import ProjectError

SECTION = re.compile(r"^(?P<name>[A-Za-z]+):(?P<rest>.*)$")
ENTRY = re.compile(r"^( +)([A-Za-z0-9]+|\"[A-Za-z0-9]+\"|'[A-Za-z0-9]+'):")
NOTHING = re.compile(r"\s*(#.*)?$")


def entries(lines: Sequence[str], section: str) -> list[str]:
    """Return the names in a section, such as those of the resources; nothing if there is no such section."""
    first = _find(lines, section)
    found = [ENTRY.match(line) for line in _body(lines, first)] if first is not None else []
    matches = [match for match in found if match]
    indent = min((len(match[1]) for match in matches), default=0)
    return [match[2].strip("\"'") for match in matches if len(match[1]) == indent]


def add(lines: Sequence[str], section: str, block: Sequence[str], before: str) -> list[str]:
    """Add a block at the start of a section; create the section before the section `before` if it does not exist.

    Raises ProjectError if the section is not in block style.
    """
    first = _find(lines, section)
    if first is None:
        place = _find(lines, before)
        if place is None:
            raise ProjectError(f"the template must have a section {before}, as a key at the start of a line")
        return [*lines[:place], f"{section}:", *_indent(block, "  "), "", *lines[place:]]
    _check_block(lines, first, section)
    return [*lines[: first + 1], *_indent(block, _indentation(lines, first)), *lines[first + 1 :]]


def _find(lines: Sequence[str], section: str) -> int | None:
    for number, line in enumerate(lines):
        match = SECTION.match(line)
        if match and match["name"] == section:
            return number
    return None


def _body(lines: Sequence[str], first: int) -> list[str]:
    """Return the lines of a section: indented ones, empty ones and comments."""
    body = []
    for line in lines[first + 1 :]:
        if not (line.startswith((" ", "#")) or not line.strip()):
            break
        body.append(line)
    return body


def _check_block(lines: Sequence[str], first: int, section: str) -> None:
    match = SECTION.match(lines[first])
    if match and not NOTHING.fullmatch(match["rest"]):
        raise ProjectError(
            f"{section} must be written in block style, one entry per line; "
            'reformat the template, or add the queue as the page "Your project" shows'
        )


def _indentation(lines: Sequence[str], first: int) -> str:
    matches = [match for line in _body(lines, first) if (match := ENTRY.match(line))]
    return matches[0][1] if matches else "  "


def _indent(block: Sequence[str], indentation: str) -> list[str]:
    return [f"{indentation}{line}" if line else line for line in block]
