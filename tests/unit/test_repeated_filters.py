"""Statements that filter the same jobs have the same conditions. They are files of their own, so that each can be read
and explained as a whole.
"""

import re

import pytest

from minutehand.database.statements import statement


def conditions(name: str) -> list[str]:
    """Return the conditions of the outer `where`, without the cursor of a page."""
    where = statement(name).split("\n where ")[1].split("\n order by")[0]
    found = (" ".join(condition.split()) for condition in where.split("\n   and "))
    return [
        condition
        for condition in found
        if condition != "true" and not re.search(r"\(after|\(before", condition)
    ]


def columns(name: str) -> str:
    return statement(name).split("\nselect ")[1].split("\n  from ")[0]


@pytest.mark.parametrize("name", ["list_newer_jobs", "count_jobs"])
def test_lists_of_jobs_have_the_same_filter(name: str) -> None:
    assert len(conditions("list_jobs")) == 15
    assert conditions(name) == conditions("list_jobs")


def test_pages_of_jobs_have_the_same_columns() -> None:
    assert columns("list_newer_jobs") == columns("list_jobs")
