"""The stack with the handlers of these tests, and the records of its attempts."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from emulator import Clock, Emulator
from emulator.errors import BuildError
from emulator.parts import architecture
from tests import servers
from tests.flow.stage import ROOT, Emulated, Flow, reach

HANDLERS = Path(__file__).parent / "handlers"
OURS = ("api", "dispatcher", "migrate")

TABLES = (
    "create table gate (attempt int)",
    """create table facts (n serial, job uuid, attempt int, what text,
                           at timestamptz default clock_timestamp(), until timestamptz)""",
    "create table endings (job uuid)",
    """create function ended() returns trigger language plpgsql as
       $$ begin insert into endings values (new.id); return null; end $$""",
    """create trigger ended after insert on minutehand.jobs
          for each row when (new.deleted is not null) execute function ended()""",
)


class Stage(Flow):
    """A database that counts the endings of jobs, and an emulator that uses it."""

    home: Emulated

    def __init__(self, database: servers.Database, home: Emulated) -> None:
        super().__init__(database, home)
        self.lambda_ = home.lambda_
        for text in TABLES:
            self.sql(text)

    def logged(self, message: str) -> list[tuple[UUID, int]]:
        """Return the jobs and attempts for which a worker logged a message."""
        lines = [line for line in self.home.lines("WorkerFunction") if line.get("message") == message]
        return [(UUID(line["job"]), line["attempt"]) for line in lines]

    def endings(self) -> list[UUID]:
        """Return the job of every write of an ending."""
        return [job for (job,) in self.sql("select job from endings")]


def template(folder: Path) -> Path:
    """Copy the tree of the stack, with the handlers of these tests; skip the test where the emulator cannot run."""
    try:
        architecture()
    except BuildError as error:
        pytest.skip(str(error))
    (folder / "functions").mkdir()
    for name in ("template.yaml", "layers", "shared", *(f"functions/{function}" for function in OURS)):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "functions" / "worker", folder / "functions" / "worker")
    for handler in HANDLERS.glob("*.py"):
        shutil.copy(handler, folder / "functions" / "worker" / "handlers")
    return folder / "template.yaml"


@contextmanager
def staged(
    database: servers.Database,
    tree: Path,
    clock: Clock,
    seconds: int,
    parameters: Mapping[str, str] = {},
    **variables: str,
) -> Iterator[Stage]:
    """Run the stack with a database and parameters; the worker has a timeout in seconds."""
    output: list[tuple[str, str]] = []
    environment: dict[str, Any] = reach(database.url) | variables
    with Emulator(
        tree,
        environment=environment,
        parameters={"WorkerTimeout": str(seconds), **parameters},
        concurrency=16,
        clock=clock,
        cache=ROOT / ".emulator",
        log=lambda function, line: output.append((function, line)),
    ) as lambda_:
        stage = Stage(database, Emulated(lambda_, output))
        yield stage
        stage.close()
