"""The table of routes in docs/rest.md."""

import re
from collections.abc import Iterator

from minutehand.functions.api.app import app
from tests.docs.reading import ROOT

PAGE = ROOT / "docs" / "rest.md"


def listed(paths: set[str]) -> Iterator[str]:
    """Yield the paths of the table. One that follows another path of its folder is listed by its last part."""
    table = PAGE.read_text("utf-8").partition("\n## All routes\n")[2].partition("\n## ")[0]
    for row in table.splitlines():
        folder = ""
        for text in re.findall(r"`([^`]+)`", row.partition(" | ")[0]):
            path = text.split(" ")[-1]
            if path.startswith("/"):
                full = path if path in paths else folder + path
                folder = full.rpartition("/")[0]
                yield full


def test_table_has_every_route() -> None:
    paths = {*app.openapi()["paths"], "/openapi.json"}

    assert {*listed(paths)} == paths
