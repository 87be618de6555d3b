"""Cause: an error in one line for logs and hooks, in which everything that may be a value of the job is masked.

Numbers, quoted texts, ids and mail addresses become #, as in the SQL function `minutehand.cause`, by which failures
are grouped; a test compares the two. Here, so does each word of the payload's, the headers' or the key's values. A
quoted text without an end, as in a message that was cut, extends to the end of the message.
"""

import re
import unicodedata
from collections.abc import Iterator

from minutehand.model.outcome import Error

MASK = "#"
MESSAGE_CHARACTERS = 400
CAUSE_CHARACTERS = 300
# Beyond this, only the type is shown.
MOST_VALUES = 10_000
MOST_CHARACTERS = 262_144

# A backslash does not end a quoted text, nor does an apostrophe before a letter.
_QUOTED = (
    r"\"(?:[^\"\\]|\\.)*(?:\"|\\?$)|(?<![A-Za-z0-9])'(?:[^'\\]|\\.|'(?=\w))*(?:'|\\?$)"
    r"|`[^`]*(?:`|$)|[\u201c\u201e][^\u201c\u201d]*(?:[\u201c\u201d]|$)|\u00ab[^\u00bb]*(?:\u00bb|$)|\u2018(?:[^\u2019]|\u2019(?=\w))*(?:\u2019|$)"
)
_ADDRESS = r"\S+@\S+"
_VARYING = re.compile(
    f"{_QUOTED}|{_ADDRESS}"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}"
    r"|[0-9]+(?:[.:,][0-9]+)+|\b(?=[a-fA-F]*[0-9])[0-9a-fA-F]{8,}\b|[0-9]+"
)
_LONG = tuple(map(re.compile, (_QUOTED, _ADDRESS)))
# Both sides of an underscore may come from elsewhere.
_WORD = re.compile(r"[^\W_]+")


class _UnknownValuesError(Exception):
    pass


def masked_cause(error: Error, *private: object) -> str:
    """Return the type of an error and the first line of its message, without words of the private values."""
    kind, message = str(error["type"])[:CAUSE_CHARACTERS], _first_line(str(error["message"]))
    try:
        words = {word for text in _texts(private) for word in _WORD.findall(_comparable(text))}
    except _UnknownValuesError:
        return kind
    masked = _WORD.sub(lambda word: MASK if _comparable(word[0]) in words else word[0], _masked(message))
    return f"{kind}: {masked}"[:CAUSE_CHARACTERS] if masked.strip() else kind


def _masked(message: str) -> str:
    """Mask what varies. Of what begins at the same place, the longest counts, as in Postgres: 'app'@'10.0.0.5'."""
    if "@" not in message:
        return _VARYING.sub(MASK, message)
    parts, place = list[str](), 0
    while found := _VARYING.search(message, place):
        longer = (match.end() for each in _LONG if (match := each.match(message, found.start())))
        parts += message[place : found.start()], MASK
        place = max([found.end(), *longer])
    return "".join([*parts, message[place:]])


def _first_line(message: str) -> str:
    """Return the first line, bounded and without a part of a word at its end: that may be a part of a value."""
    line = unicodedata.normalize("NFC", message.partition("\n")[0])
    return line if len(line) <= MESSAGE_CHARACTERS else line[:MESSAGE_CHARACTERS].rpartition(" ")[0]


def _comparable(text: str) -> str:
    """Return a text in which the same letters have the same form."""
    return unicodedata.normalize("NFC", text).casefold()


def _texts(values: object) -> Iterator[str]:
    """Return the texts among JSON values. The names of fields are not private."""
    waiting, count, characters = [values], 0, 0
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
                characters += len(text)
            case dict() as fields:
                waiting.extend(fields.values())
            case list() | tuple() as items:
                waiting.extend(items)
            case None | bool() | int() | float():
                pass
            case _:
                raise _UnknownValuesError
        count += 1
        if count > MOST_VALUES or characters > MOST_CHARACTERS:
            raise _UnknownValuesError
