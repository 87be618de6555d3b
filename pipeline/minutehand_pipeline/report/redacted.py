"""An error's message without what varies and without what it quotes: placeholders stand for both.

Who may see a report need not be who may see payloads, and messages quote them. So a word too many is hidden rather than
one shown: a quotation that never ends hides the rest, and one that seems to end in its middle goes on to its end.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

READ, KEPT = 2000, 300  # of a message so many characters are read, and kept

# Typographic quotation marks, which are read as the plain ones.
DOUBLE = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u300a\u300b\u300c\u300d\u300e\u300f\u301d\u301e\u301f\uff02"
SINGLE = "\u2018\u2019\u201a\u201b\u2032\u00b4\uff07`"

LETTER = r"[\p{L}\p{N}_]"
PREFIX = r"(?:[bBfFrRtTuU]{1,2}|u8|[ENX])"  # as in b'bytes'


def _quoted(mark: str) -> tuple[str, str]:
    """Return what finds a text between two of a quotation mark; one before a letter, as in O'Brien, ends none."""
    inside = rf"[^{mark}\\]*+(?:(?:\\[\s\S]?|{mark}(?={LETTER}))[^{mark}\\]*+)*+"
    return rf"(?<!{LETTER}|\\){PREFIX}?+{mark}{inside}(?:{mark}|\z)", "<text>"


def _leftover(mark: str) -> tuple[str, str]:
    """Return what finds a mark that closes, though none opened, from where what it closes may have begun."""
    inside = rf"[^{mark}]*+(?:{mark}(?={LETTER})[^{mark}]*+)*+"
    return rf"(?:<text>|{mark}){inside}{mark}", "<text>"


# What is hidden, in the order in which it is looked for. Each is one native expression that does not go back on what it
# has read, so that a hostile message costs little more than its length.
HIDDEN = (
    (r"(=|\bcontains )\([^\n]*+", "$1(<text>)"),  # Postgres: Key (name)=(of somebody) already exists.
    _quoted('"'),
    _quoted("'"),
    (r"\\++([\"'])", "$1"),
    _quoted('"'),
    _quoted("'"),
    _leftover('"'),
    (r'"[\s\S]*+', "<text>"),
    _leftover("'"),
    (r"(?:<text>){2,}+", "<text>"),
    (r"(?i)%40", "@"),
    (r"(?<![^\s<>])[^\s<>@]*+@[^\s<>]++", "<mail>"),
)  # fmt: skip

# What varies from one error to the next of the same cause, likewise.
VARIES = (
    (r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}", "<uuid>"),
    (r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", "<time>"),
    (r"\b0[xX][0-9A-Fa-f]+\b", "<hex>"),
    (r"\b(?=[0-9A-Fa-f]*[A-Fa-f])(?=[0-9A-Fa-f]*\d)[0-9A-Fa-f]{8,}\b", "<hex>"),
    (r"\b(?=[A-Za-z_]*\d)(?=\d*[A-Za-z_])\w{8,}\b", "<id>"),
    (r"\d+([.,:]\d+)*", "<number>"),
    (r"\s+", " "),
)


def redacted(message: Column) -> Column:
    """Return a message with placeholders for quoted texts, mail addresses, ids, moments, hex and numbers.

    It is cut before: of a longer one the last word that was read is left out, since it may be half of an address, and
    what was quoted is taken to go on where it was cut.
    """
    cut = F.regexp_replace(
        F.substring(message, 1, READ), r"(?<![^\s\"'(),;<>\[\]{}])[^\s\"'(),;<>\[\]{}]++\z", ""
    )
    read = F.when(F.length(message) > READ, cut).otherwise(message)
    read = F.translate(read, DOUBLE + SINGLE, '"' * len(DOUBLE) + "'" * len(SINGLE))
    for pattern, placeholder in HIDDEN:
        read = F.regexp_replace(read, pattern, placeholder)
    read = F.when(F.length(message) > READ, F.regexp_replace(read, r"<text>[\s\S]*+", "<text>")).otherwise(
        read
    )
    for pattern, placeholder in VARIES:
        read = F.regexp_replace(read, pattern, placeholder)
    return F.trim(F.substring(read, 1, KEPT))
