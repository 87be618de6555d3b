"""The rows of a runbook name what its first command can print, and tests cause each of the faults."""

import re
from pathlib import Path

import pytest

from minutehand.doctor import DATABASE_CHECKS, STACK_CHECKS
from tests.doctor.database_faults import DATABASE_FAULTS
from tests.doctor.stack_faults import STACK_FAULTS
from tests.template.test_runbooks import FIRST_COMMAND, RUNBOOKS

PAGES = sorted(RUNBOOKS.glob("*.md"))
# Checks whose faults have tests of their own, in tests/doctor.
ALSO_CAUSED = {"autovacuum", "clock", "disk", "old-snapshot", "pooler", "reachable", "roles", "routes"}
CAUSED = {check for check, *_ in (*DATABASE_FAULTS.values(), *STACK_FAULTS.values())} | ALSO_CAUSED
# Without ticks, the doctor always finds a problem.
WITHOUT_TICKS = {"dispatcher-dead", "dispatcher-fails"}
ROW = re.compile(r"^\| (?!the command|---|alarm|fault|\[)(.*?) \| (.*) \|$", re.MULTILINE)


def rows(page: Path) -> list[str]:
    """Return the first column of a page's table."""
    return [first for first, _ in ROW.findall(page.read_text("utf-8"))]


@pytest.mark.parametrize("page", [each for each in PAGES if each.stem != "index"], ids=lambda page: page.stem)
def test_page_has_only_rows_that_its_command_prints(page: Path) -> None:
    ((_, command),) = FIRST_COMMAND.findall(page.read_text("utf-8"))
    known = {*DATABASE_CHECKS} | ({*STACK_CHECKS} if "--stack" in command else set())
    found = rows(page)

    assert len(found) >= 2
    if command.startswith("minutehand doctor"):
        named = {name for row in found for name in re.findall(r"`([a-z-]+)`", row.partition(":")[0])}
        assert named and named <= known & CAUSED
        assert not ({"no problem"} & {*found} and page.stem in WITHOUT_TICKS)
