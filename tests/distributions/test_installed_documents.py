"""The commands of the documentation work with the wheel: in an environment that its `pip install` lines have made.

All pages share the environment. It contains what the pages install, and the libraries that some of them only mention.
"""

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from tests.distributions.building import ROOT, build
from tests.distributions.environments import Environment, create
from tests.docs.reading import Reader, blocks, local_api
from tests.docs.test_documents import PAGES
from tests.servers import Database

pytestmark = pytest.mark.install

# Contributors use a checkout, and the decisions name tools of the past.
OURS = {"CONTRIBUTING.md", "decisions.md", "ancestors.md"}
READ = [page for page in PAGES if page.name not in OURS]
INSTALLATION = re.compile(r"(?:^|&& )pip install (?!-)(.+?)(?= &&|\s+#|$)", re.MULTILINE)
# Libraries of the reader's application, which a page need not install for them.
MENTIONED = (
    "asyncpg",
    "fastapi",
    "flask",
    "httpx",
    "mangum",
    "opentelemetry-sdk",
    "psycopg2-binary",
    "sqlalchemy[asyncio]",
)


def installations() -> list[list[str]]:
    """Return the requirements of each `pip install` in a block of the pages; the wheel stands for a clone."""
    found = {
        command for page in READ for block in blocks(page) for command in INSTALLATION.findall(block.text)
    }
    return [[each.removeprefix("./") for each in shlex.split(command)] for command in sorted(found)]


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = create(sys.executable, tmp_path_factory.mktemp("reader") / "venv")
    build(ROOT / "pipeline", wheel.parent)
    for requirements in installations():
        environment.install("--find-links", str(wheel.parent), *requirements)
    environment.install(*MENTIONED)
    return environment


@pytest.fixture
def reader(environment: Environment, direct_database: Database, tmp_path: Path) -> Iterator[Reader]:
    functions = environment.packages / "minutehand" / "stack" / "functions"
    shutil.copytree(functions, tmp_path / "functions")
    python = str(environment.folder / "bin" / "python")
    with ExitStack() as stack:
        api = cache(lambda: stack.enter_context(local_api(direct_database.url, python, functions)))
        yield Reader(tmp_path, direct_database.url, api, python)


def test_pages_install_the_wheel() -> None:
    assert ["minutehand[local,testing]"] in installations()


@pytest.mark.parametrize("page", READ, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_runs_with_the_wheel(page: Path, reader: Reader) -> None:
    reader.follow_page(page)
