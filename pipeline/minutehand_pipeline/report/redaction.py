"""Replace quoted and varying parts of error messages with placeholders.

Readers of a report may not be allowed to see payloads, and messages quote them. In doubt, more is hidden: an unclosed
quotation hides the rest of the message, and a quotation mark inside a word does not end a quotation.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

# Characters of a message that are read, and that the result has at most.
MAX_READ, MAX_LENGTH = 2000, 300

# Typographic quotation marks, which are treated like the plain ones.
DOUBLE = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2039\u203a\u300a\u300b\u300c\u300d\u300e\u300f\u301d\u301e\u301f\uff02"
SINGLE = "\u2018\u2019\u201a\u201b\u2032\u00b4\uff07`"

LETTER = r"[\p{L}\p{N}_]"
# As in b'bytes'.
PREFIX = r"(?:[bBfFrRtTuU]{1,2}|u8|[ENX])"


def _quoted(mark: str) -> tuple[str, str]:
    """Return the pattern of a quotation. A mark before a letter, as in O'Brien, does not end it."""
    inside = rf"[^{mark}\\]*+(?:(?:\\[\s\S]?|{mark}(?={LETTER}))[^{mark}\\]*+)*+"
    return rf"(?<!{LETTER}|\\){PREFIX}?+{mark}{inside}(?:{mark}|\z)", "<text>"


def _leftover(mark: str) -> tuple[str, str]:
    """Return the pattern of an unopened quotation: from where it may have begun to the mark that closes it."""
    inside = rf"[^{mark}]*+(?:{mark}(?={LETTER})[^{mark}]*+)*+"
    return rf"(?:<text>|{mark}){inside}{mark}", "<text>"


# The patterns of private parts, in order. They are possessive and do not backtrack, so the time stays linear for
# hostile messages.
PRIVATE = (
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
)

# The patterns of parts that vary between errors of the same cause.
VARYING = (
    (r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}", "<uuid>"),
    (r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", "<time>"),
    (r"\b0[xX][0-9A-Fa-f]+\b", "<hex>"),
    (r"\b(?=[0-9A-Fa-f]*[A-Fa-f])(?=[0-9A-Fa-f]*\d)[0-9A-Fa-f]{8,}\b", "<hex>"),
    (r"\b(?=[A-Za-z_]*\d)(?=\d*[A-Za-z_])\w{8,}\b", "<id>"),
    (r"\d+([.,:]\d+)*", "<number>"),
    (r"\s+", " "),
)


def redact(message: Column) -> Column:
    """Return a message with placeholders for quotations, mail addresses, ids, times, hex and numbers.

    A long message is cut first. The last word is then left out, because it may be half of an address, and an open
    quotation is assumed to continue after the cut.
    """
    is_long = F.length(message) > MAX_READ
    cut = F.regexp_replace(
        F.substring(message, 1, MAX_READ), r"(?<![^\s\"'(),;<>\[\]{}])[^\s\"'(),;<>\[\]{}]++\z", ""
    )
    text = F.when(is_long, cut).otherwise(message)
    text = F.translate(text, DOUBLE + SINGLE, '"' * len(DOUBLE) + "'" * len(SINGLE))
    for pattern, placeholder in PRIVATE:
        text = F.regexp_replace(text, pattern, placeholder)
    text = F.when(is_long, F.regexp_replace(text, r"<text>[\s\S]*+", "<text>")).otherwise(text)
    for pattern, placeholder in VARYING:
        text = F.regexp_replace(text, pattern, placeholder)
    return F.trim(F.substring(text, 1, MAX_LENGTH))
