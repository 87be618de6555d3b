"""Every code block of the documentation runs, page by page, in order."""

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from tests.docs.reading import ROOT, Reader, anchor, blocks, headings, is_make, local_api, page_cases
from tests.servers import Database

PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "CONTRIBUTING.md",
]
FRAMEWORKS = sorted((ROOT / "docs" / "frameworks").glob("*.md"))
# The pages in other subfolders are executed by other tests.
ALL_PAGES = [*PAGES, *sorted((ROOT / "docs").glob("*/*.md"))]
# Diagrams and responses, which are not executed.
READ_ONLY = {"text", "json", "http"}


@pytest.fixture
def reader(direct_database: Database, tmp_path: Path) -> Iterator[Reader]:
    shutil.copytree(ROOT / "functions", tmp_path / "functions", ignore=shutil.ignore_patterns("__pycache__"))
    with ExitStack() as stack:
        yield Reader(
            tmp_path, direct_database.url, cache(lambda: stack.enter_context(local_api(direct_database.url)))
        )


@pytest.mark.parametrize(
    "page", page_cases(*PAGES, *FRAMEWORKS), ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_page_blocks_run_in_order(page: Path, reader: Reader) -> None:
    reader.follow_page(page)


def test_blocks_use_known_languages() -> None:
    known = {"python", "sql", "sh", *READ_ONLY}

    unknown = [
        f"{b.page.name}:{b.line} {b.language!r}"
        for page in ALL_PAGES
        for b in blocks(page)
        if b.language not in known
    ]

    assert unknown == []


def test_make_commands_are_makefile_targets() -> None:
    targets = set(re.findall(r"^([a-z/]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = {
        command
        for page in [*PAGES, *FRAMEWORKS]
        for block in blocks(page)
        if is_make(block)
        for command in block.text.split("\n")
        if command
    }

    assert commands == {"make run", "make test"} and {"run", "test"} <= targets


def test_ci_runs_make_test() -> None:
    assert re.search(r"^make test\b", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)


def test_links_point_to_existing_files() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in ALL_PAGES
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_links_point_to_existing_headings() -> None:
    anchors = {page: {anchor(heading) for heading in headings(page)} for page in ALL_PAGES}
    broken = [
        f"{page.name}: {target}#{fragment}"
        for page in ALL_PAGES
        for target, fragment in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text())
        if fragment not in anchors.get((page.parent / target).resolve() if target else page, set())
    ]

    assert broken == []


def test_failing_block_is_reported_with_page_and_line(reader: Reader, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nraise SystemExit('no')\n```\n")

    with pytest.raises(AssertionError, match=r"page\.md:3 failed"):
        reader.follow_page(page)
