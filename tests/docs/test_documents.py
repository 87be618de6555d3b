"""Every command, statement and snippet of the documentation runs, page by page, in the order in which it stands."""

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from tests.docs.reading import ROOT, Reader, blocks, is_make, local_api, slug, titles
from tests.servers import Database

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"]
ALL_PAGES = [
    *PAGES,
    *sorted((ROOT / "docs").glob("*/*.md")),
]  # those have tests of their own that follow them
READ_ONLY = {"text", "json", "http"}  # pictures and answers; nothing to run


@pytest.fixture
def reader(direct_database: Database, tmp_path: Path) -> Iterator[Reader]:
    shutil.copytree(ROOT / "functions", tmp_path / "functions", ignore=shutil.ignore_patterns("__pycache__"))
    with ExitStack() as stack:
        yield Reader(
            tmp_path, direct_database.url, cache(lambda: stack.enter_context(local_api(direct_database.url)))
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_does_what_it_says_from_top_to_bottom(page: Path, reader: Reader) -> None:
    reader.follow_page(page)


def test_every_block_is_of_a_language_that_this_test_knows() -> None:
    known = {"python", "sql", "sh", *READ_ONLY}

    strangers = [
        f"{b.page.name}:{b.line} {b.language!r}"
        for page in ALL_PAGES
        for b in blocks(page)
        if b.language not in known
    ]

    assert strangers == []


def test_the_make_commands_of_the_documentation_are_targets_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z/]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    typed = {
        command
        for page in PAGES
        for block in blocks(page)
        if is_make(block)
        for command in block.text.split("\n")
        if command
    }

    assert typed == {"make run", "make test"} and {"run", "test"} <= targets


def test_ci_runs_the_test_command_of_the_readme() -> None:
    assert re.search(r"^make test\b", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)


def test_every_link_between_pages_leads_somewhere() -> None:
    broken = [
        f"{page.name}: {target}"
        for page in ALL_PAGES
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_every_link_to_a_chapter_leads_to_one() -> None:
    chapters = {page: {slug(title) for title in titles(page)} for page in ALL_PAGES}
    broken = [
        f"{page.name}: {target}#{chapter}"
        for page in ALL_PAGES
        for target, chapter in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text())
        if chapter not in chapters.get((page.parent / target).resolve() if target else page, set())
    ]

    assert broken == []


def test_a_snippet_that_does_not_work_fails_with_its_page_and_line(reader: Reader, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nraise SystemExit('no')\n```\n")

    with pytest.raises(AssertionError, match="no"):
        reader.follow(blocks(page)[0])
