"""Texts in lines that fit a terminal: broken between words, with each command whole on a line of its own."""

import re
from collections.abc import Iterator

from minutehand.cli.command_names import COMMANDS

# A terminal that is narrower breaks the lines itself.
LEAST_COLUMNS = 20
# A word and the space before it.
WORDS = re.compile(r"(\s*)(\S+)")
# How the commands begin that messages, advice and next steps contain.
BEGINNINGS = (
    rf"minutehand (?:{'|'.join(COMMANDS)})\b",
    r"aws (?:lambda|sqs) ",
    r"pip install ",
    r"sam (?:build|deploy)\b",
    r"(?:select|update|vacuum|alter table) (?:minutehand\.|pg_)",
    r"drop schema minutehand\b",
)
# A command comes first, or after a colon, or after another command and a semicolon or ", or". Outside of quotes, it
# ends before a comma, semicolon or period. Quoted names may contain anything.
COMMAND = re.compile(
    rf"(?:^|(?<=: )|(?<=; )|(?<=, or ))(?P<command>(?:{'|'.join(BEGINNINGS)})"
    r"""(?:'[^']*'|"[^"]*"|(?![,;.](?: |$)).)*)[,;.]? ?"""
)


def wrap(text: str, width: int, indent: str = "", following: str = "") -> list[str]:
    """Return a text in lines of at most this width, broken between words; a word is broken if no line can hold it.

    The first line begins with `indent`, and each further one with `following`. At most half of a line is blank.
    """
    from rich.cells import cell_len, chop_cells

    width = max(LEAST_COLUMNS, width)
    text, line = (indent + text, "") if indent.strip() else (text, _indent(indent, width))
    following, lines = _indent(following, width), []
    for space, word in WORDS.findall(text):
        fits_alone = cell_len(following + word) <= width
        if fits_alone and line.strip() and cell_len(line + space + word) > width:
            lines.append(line)
            line = following + word
            continue
        line += space + word
        if cell_len(line) > width:
            first = chop_cells(line, width)[0]
            rest = chop_cells(line[len(first) :], width - cell_len(following))
            lines += [first, *(following + part for part in rest[:-1])]
            line = following + rest[-1]
    return [each.rstrip() for each in [*lines, line]]


def wrap_instructions(text: str, width: int, indent: str = "", following: str = "") -> list[str]:
    """Return a text in lines as `wrap` does, and each of its commands whole in a line, so that it can be copied.

    A command may be longer than the width; the terminal breaks it without changing what is copied.
    """
    lines: list[str] = []
    for part, is_command in _parts(text):
        if is_command:
            lines.append(f"{_indent(following, max(LEAST_COLUMNS, width))}  {part}")
        else:
            lines += wrap(part, width, following if lines else indent, following)
    return lines


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the sentences and the commands of a text in order, and whether it is a command."""
    end = 0
    for found in COMMAND.finditer(text):
        if sentence := text[end : found.start()].rstrip():
            yield sentence, False
        yield found["command"], True
        end = found.end()
    if end < len(text) or not text:
        yield text[end:], False


def _indent(blank: str, width: int) -> str:
    """Return a blank text, shortened to half of the width."""
    from rich.cells import cell_len

    return " " * min(cell_len(blank), width // 2)
