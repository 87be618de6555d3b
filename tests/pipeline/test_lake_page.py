"""The documentation lists the columns that the code writes."""

import re
from pathlib import Path

import pytest

from minutehand_pipeline.archive.private import PRIVATE
from minutehand_pipeline.schemas import HOMES, Home

PAGES = Path(__file__).parents[2] / "docs" / "pipeline"
ROW = re.compile(r"^\| (\w+) \| (\w+) \| .*\|$", re.MULTILINE)


@pytest.mark.parametrize("home", HOMES.values(), ids=lambda home: home.lake)
def test_page_lists_the_columns_in_order(home: Home) -> None:
    part = (PAGES / "lake.md").read_text("utf-8").split(f"### {home.lake}\n")[1].split("\n#")[0]

    assert ROW.findall(part) == [
        ("column", "type"),
        *((field.name, field.dataType.simpleString()) for field in home.schema),
    ]
    assert f"by {', '.join(f'`{name}`' for name in home.key)}." in part


def test_page_lists_the_columns_that_erasure_clears() -> None:
    listed = re.findall(
        r"^\| (\w+) \| ([\w, ]+) \|$", (PAGES / "archive.md").read_text("utf-8"), re.MULTILINE
    )

    assert listed[1:] == [(HOMES[name].lake, ", ".join(columns)) for name, columns in PRIVATE.items()]
