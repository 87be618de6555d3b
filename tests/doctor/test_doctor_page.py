"""The page of the doctor and the checks that it makes are the same."""

import re
from pathlib import Path

from minutehand.doctor import DATABASE_CHECKS, STACK_CHECKS

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"


def test_every_check_is_on_the_page_in_its_order_and_nothing_else_is() -> None:
    assert re.findall(r"^\| `([a-z-]+)` \|", PAGE.read_text(), re.MULTILINE) == [
        *DATABASE_CHECKS,
        *STACK_CHECKS,
    ]


def test_every_check_says_in_a_sentence_what_it_asks() -> None:
    checks = [*DATABASE_CHECKS.values(), *STACK_CHECKS.values()]

    assert all((check.__doc__ or "").startswith("Whether ") for check in checks)
