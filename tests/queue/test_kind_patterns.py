"""Patterns of kinds: those of the worker routes, as regular expressions of Postgres."""

from fnmatch import fnmatchcase

from minutehand.model.slots import expression
from tests.queue.stage import Queue

PATTERNS = ["invoice.*", "?nvoice.send", "[hi]*", "[!i]*", "a.b", "[a-c]x", "*", "a*b?"]
ODD_PATTERNS = ["[", "[]", "[!]", "[]a]", "[^a]", "[[:alpha:]]", "[a]]"]
KINDS = ["invoice.send", "Invoice.send", "http", "a.b", "axb", "ax", "bx", "a", "i", "aab1", "a_b_"]


def test_patterns_match_in_the_database_as_in_python(queue: Queue) -> None:
    for pattern in PATTERNS + ODD_PATTERNS:
        found = queue.sql(
            "select kind, kind ~ %(expression)s as matches from unnest(%(kinds)s::text[]) kind",
            expression=expression(pattern),
            kinds=KINDS,
        )
        matching = {row["kind"] for row in found if row["matches"]}
        assert matching == {kind for kind in KINDS if fnmatchcase(kind, pattern)}, pattern
