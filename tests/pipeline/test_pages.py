"""Every command and snippet of the pipeline's pages runs, on a queue with two days of history."""

import shutil
from pathlib import Path

import pytest

from minutehand.database import connect
from tests.docs.reading import ROOT, Reader
from tests.pipeline.history import fill_history
from tests.servers import Database

PAGES = sorted((ROOT / "docs" / "pipeline").glob("*.md"))


@pytest.fixture
def reader(direct_database: Database, tmp_path: Path) -> Reader:
    shutil.copytree(ROOT / "functions", tmp_path / "functions", ignore=shutil.ignore_patterns("__pycache__"))
    with connect(direct_database.url) as connection:
        fill_history(connection, 2000, days=2)
    return Reader(tmp_path, direct_database.url, lambda: pytest.fail("the pipeline's pages ask no API"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_does_what_it_says_from_top_to_bottom(page: Path, reader: Reader) -> None:
    reader.follow_page(page)
