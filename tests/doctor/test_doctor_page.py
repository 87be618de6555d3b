"""The documentation lists the checks of the doctor."""

import re
from pathlib import Path

from minutehand.doctor import DATABASE_CHECKS, STACK_CHECKS
from minutehand.doctor.project import PROJECT_CHECKS

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"


def test_page_lists_every_check_in_order() -> None:
    assert re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(), re.MULTILINE) == [
        *DATABASE_CHECKS,
        *STACK_CHECKS,
        *PROJECT_CHECKS,
    ]


def test_each_check_has_a_docstring() -> None:
    checks = [*DATABASE_CHECKS.values(), *STACK_CHECKS.values(), *PROJECT_CHECKS.values()]

    assert all((check.__doc__ or "").startswith("Whether ") for check in checks)
