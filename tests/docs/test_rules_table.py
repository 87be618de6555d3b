"""The table of docs/jobs.md explains each rule that SQL reports by name; MINUTEHAND_UPDATE=1 writes it."""

import os
import re

from minutehand.model.rules import LIMITS, SENTENCES
from tests.docs.reading import ROOT

PAGE = ROOT / "docs" / "jobs.md"
SCHEMA = ROOT / "shared" / "minutehand" / "schema" / "schema.sql"
BEGIN, END = "<!-- rules -->", "<!-- end of rules -->"
DOMAIN = re.compile(r"^CREATE DOMAIN minutehand\.\w+ AS [^;]*?CONSTRAINT (\w+) CHECK", re.MULTILINE)
# Read when this module is imported, because fixtures clean the environment.
UPDATE = os.environ.get("MINUTEHAND_UPDATE") == "1"


def table() -> str:
    named = sorted(set(DOMAIN.findall(SCHEMA.read_text("utf-8"))) & SENTENCES.keys() - LIMITS)
    return "\n".join(
        ["| constraint | the rule |", "| --- | --- |", *(f"| `{n}` | {SENTENCES[n]} |" for n in named)]
    )


def test_page_explains_every_rule_that_a_domain_checks() -> None:
    text = PAGE.read_text("utf-8")
    head, _, rest = text.partition(f"{BEGIN}\n")
    found, _, tail = rest.partition(f"\n{END}")
    if UPDATE:
        PAGE.write_text(f"{head}{BEGIN}\n{table()}\n{END}{tail}", "utf-8")
        return

    assert "priority_is_0_to_9" in found and found == table()
