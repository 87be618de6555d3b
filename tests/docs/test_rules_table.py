"""The table of docs/jobs.md explains each rule that SQL reports by name."""

import re

from minutehand.model.rules import LIMITS, SENTENCES
from tests.docs.generated import check_table
from tests.docs.reading import ROOT

PAGE = ROOT / "docs" / "jobs.md"
SCHEMA = ROOT / "shared" / "minutehand" / "schema" / "schema.sql"
DOMAIN = re.compile(r"^CREATE DOMAIN minutehand\.\w+ AS [^;]*?CONSTRAINT (\w+) CHECK", re.MULTILINE)


def table() -> str:
    named = sorted(set(DOMAIN.findall(SCHEMA.read_text("utf-8"))) & SENTENCES.keys() - LIMITS)
    return "\n".join(
        ["| constraint | the rule |", "| --- | --- |", *(f"| `{n}` | {SENTENCES[n]} |" for n in named)]
    )


def test_page_explains_every_rule_that_a_domain_checks() -> None:
    assert "priority_is_0_to_9" in table()
    check_table(PAGE, "rules", table())
