"""Every command and snippet of the pipeline's documentation runs."""

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
    return Reader(tmp_path, direct_database.url, lambda: pytest.fail("the pipeline's pages use no API"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documentation_page_runs(page: Path, reader: Reader) -> None:
    reader.follow_page(page)
