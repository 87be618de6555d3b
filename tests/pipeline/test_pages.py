"""Every command and snippet of the pipeline's pages runs, on a queue of its own."""

import shutil
from pathlib import Path

import pytest

from tests.docs.reading import ROOT, Reader
from tests.servers import Database

pytestmark = pytest.mark.long

PAGES = sorted((ROOT / "docs" / "pipeline").glob("*.md"))


@pytest.fixture
def reader(direct_database: Database, tmp_path: Path) -> Reader:
    shutil.copytree(ROOT / "functions", tmp_path / "functions", ignore=shutil.ignore_patterns("__pycache__"))
    return Reader(tmp_path, direct_database.url, lambda: pytest.fail("the pipeline's pages ask no API"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_does_what_it_says_from_top_to_bottom(page: Path, reader: Reader) -> None:
    reader.follow_page(page)
