"""Every command, statement and snippet of the documentation runs, page by page, in the order in which it stands."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psycopg
import pytest
from markdown_it import MarkdownIt

from tests.servers import Database

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"]
READ_ONLY = {"text", "json", "http"}  # pictures and answers; nothing to run
LOCAL_API = "http://127.0.0.1:8080"
A_FILE = re.compile(r"# ((?:functions|tests)/\S+\.py)\n")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    tokens = MarkdownIt().parse(page.read_text("utf-8"))
    return [
        Block(page, (token.map or [0])[0] + 1, token.info.strip(), token.content)
        for token in tokens
        if token.type == "fence"
    ]


@dataclass(frozen=True)
class Reader:
    """Somebody who types what a page says, in a project of their own."""

    project: Path
    url: str
    api: Callable[[], str]

    def follow(self, block: Block) -> None:
        if (file := A_FILE.match(block.text)) is not None:
            self._save(self.project / file[1], block.text)
        elif block.language == "python":
            self._run([sys.executable, "-c", block.text])
        elif block.language == "sql":
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute(block.text.encode())
        elif block.language == "sh" and not is_make(block):
            text = block.text.replace(LOCAL_API, self.api()) if LOCAL_API in block.text else block.text
            self._run(["bash", "-euo", "pipefail", "-c", text])

    def _save(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def _run(self, command: list[str]) -> None:
        environment = {
            **os.environ,
            "DATABASE_URL": self.url,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        done = subprocess.run(
            command,
            cwd=self.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def is_make(block: Block) -> bool:
    return block.text.startswith("make ")


@pytest.fixture
def reader(direct_database: Database, tmp_path: Path) -> Iterator[Reader]:
    shutil.copytree(ROOT / "functions", tmp_path / "functions", ignore=shutil.ignore_patterns("__pycache__"))
    with ExitStack() as stack:
        yield Reader(
            tmp_path, direct_database.url, cache(lambda: stack.enter_context(local_api(direct_database.url)))
        )


@contextmanager
def local_api(url: str) -> Iterator[str]:
    """Serve the API on a free port as a local run does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "minutehand.local.serve_api", str(ROOT / "functions" / "api"), str(port)]
    environment = {**os.environ, "DATABASE_URL": url, "MINUTEHAND_LOCAL": "1"}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as served:
        subprocess.run(["curl", "-sS", "--retry", "100", "--retry-delay", "1", "--retry-connrefused", "-o", os.devnull,
                        f"http://127.0.0.1:{port}/health"], check=True)  # fmt: skip
        yield f"http://127.0.0.1:{port}"
        served.communicate()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_does_what_it_says_from_top_to_bottom(page: Path, reader: Reader) -> None:
    for block in blocks(page):
        try:
            reader.follow(block)
        except Exception as error:
            raise AssertionError(f"{page.name}:{block.line} does not work:\n{block.text}\n{error}") from error


def test_every_block_is_of_a_language_that_this_test_knows() -> None:
    known = {"python", "sql", "sh", *READ_ONLY}

    strangers = [
        f"{b.page.name}:{b.line} {b.language!r}"
        for page in PAGES
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
        for page in PAGES
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_every_link_to_a_chapter_leads_to_one() -> None:
    chapters = {page: {slug(title) for title in titles(page)} for page in PAGES}
    broken = [
        f"{page.name}: {target}#{chapter}"
        for page in PAGES
        for target, chapter in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text())
        if chapter not in chapters.get((page.parent / target).resolve() if target else page, set())
    ]

    assert broken == []


def titles(page: Path) -> list[str]:
    tokens = MarkdownIt().parse(page.read_text("utf-8"))
    return [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]


def slug(title: str) -> str:
    """The name of a chapter in links, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def test_a_snippet_that_does_not_work_fails_with_its_page_and_line(reader: Reader, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```python\nraise SystemExit('no')\n```\n")

    with pytest.raises(AssertionError, match="no"):
        reader.follow(blocks(page)[0])
