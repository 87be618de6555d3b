"""Execute the code blocks of a documentation page in order."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from markdown_it import MarkdownIt

from tests.ports import free_port

ROOT = Path(__file__).parent.parent.parent
LOCAL_API = "http://127.0.0.1:8080"
FILE_NAME = re.compile(r"# ((?:functions|shop|tests)/\S+\.py)\n")


@dataclass(frozen=True)
class Block:
    """A fenced code block of a page."""

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
    """Execute code blocks in a project folder, against a database and an API."""

    project: Path
    url: str
    api: Callable[[], str]
    # The interpreter of the environment in which minutehand is installed.
    python: str = sys.executable

    def follow_page(self, page: Path) -> None:
        """Execute all blocks of a page; a failure has its page and line."""
        for block in blocks(page):
            try:
                self.follow(block)
            except Exception as error:
                raise AssertionError(f"{page.name}:{block.line} failed:\n{block.text}\n{error}") from error

    def follow(self, block: Block) -> None:
        if (file := FILE_NAME.match(block.text)) is not None:
            self._save(self.project / file[1], block.text)
        elif block.language == "python":
            self._run([self.python, "-c", block.text])
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
            "PATH": f"{Path(self.python).parent}:{os.environ['PATH']}",
        }
        done = subprocess.run(
            command,
            cwd=self.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def is_make(block: Block) -> bool:
    return block.text.startswith("make ")


def page_cases(*pages: Path) -> list[Any]:
    """Return pages as parameters of a test; `make test/programs` has those that start more than one program."""
    return [
        pytest.param(page, marks=[pytest.mark.programs] if sum(map(is_program, blocks(page))) > 1 else [])
        for page in pages
    ]


def is_program(block: Block) -> bool:
    """Whether a block starts at least one program."""
    return block.language in ("python", "sh") and not FILE_NAME.match(block.text) and not is_make(block)


@contextmanager
def local_api(url: str, python: str = sys.executable, functions: Path = ROOT / "functions") -> Iterator[str]:
    """Serve the API on a free port, as in a local run."""
    port = free_port()
    command = [
        python,
        "-m",
        "minutehand.local.serve_api",
        str(functions / "api"),
        "app:app",
        str(port),
    ]
    environment = {**os.environ, "DATABASE_URL": url, "MINUTEHAND_LOCAL": "1"}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as served:
        wait = [
            "curl",
            "-sS",
            "--retry",
            "100",
            "--retry-delay",
            "1",
            "--retry-connrefused",
            "--max-time",
            "60",
            "-o",
            os.devnull,
        ]
        subprocess.run([*wait, f"http://127.0.0.1:{port}/health"], check=True)
        try:
            yield f"http://127.0.0.1:{port}"
            served.communicate(timeout=60)
        finally:
            served.kill()


def headings(page: Path) -> list[str]:
    tokens = MarkdownIt().parse(page.read_text("utf-8"))
    return [tokens[n + 1].content for n, token in enumerate(tokens) if token.type == "heading_open"]


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub generates it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
