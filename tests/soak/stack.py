"""The stack of the soak test: a copy of the tree with the recording handler, and perhaps without a fence."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from emulator import Clock, Emulator
from tests import servers
from tests.flow.stage import ROOT, reach
from tests.soak.fences import Fence

HERE = Path(__file__).parent
COPIED = ("layers", "shared", "functions")
IGNORED = shutil.ignore_patterns("__pycache__", "*.egg-info")
VARIABLES = {
    "MINUTEHAND_OFFER_TTL": "3",
    "MINUTEHAND_GRACE": "1",
    "MINUTEHAND_CAPACITY": "16",
    # So that async jobs run at the same time.
    "MINUTEHAND_CHUNK": "3",
}


def tree(folder: Path, fence: Fence | None) -> Path:
    """Copy the tree of the stack into a folder, and remove a fence; return its template."""
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=IGNORED)
    shutil.copy(ROOT / "template.yaml", folder)
    for handler in (HERE / "handlers").glob("*.py"):
        shutil.copy(handler, folder / "functions" / "worker" / "handlers")
    if fence is not None:
        fence.remove(folder)
    return folder / "template.yaml"


def prepare(database: servers.Database, folder: Path, fence: Fence | None) -> None:
    """Create the tables of records, and apply a changed file of database functions."""
    with psycopg.connect(database.admin_url, autocommit=True) as connection:
        connection.execute((HERE / "records.sql").read_bytes())
        if fence is not None and fence.file.startswith("schema/"):
            connection.execute((folder / "shared" / "minutehand" / fence.file).read_bytes())


@contextmanager
def emulated(
    template: Path, url: str, log: list[tuple[str, str]], mode: str = "minute"
) -> Iterator[Emulator]:
    """Run the stack in a mode with a fast clock, so that Lambda repeats its events within seconds."""
    with Emulator(
        template,
        environment=reach(url) | VARIABLES,
        parameters={"WorkerTimeout": "60", "Mode": mode},
        concurrency=16,
        clock=Clock(speed=10),
        cache=ROOT / ".emulator",
        log=lambda function, line: log.append((function, line)),
    ) as lambda_:
        lambda_.limit("DispatcherFunction", 3)
        lambda_.limit("WorkerFunction", 10)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (_variables(lambda_) if mode == "prompt" else {}).items():
                patch.setenv(name, value)
            yield lambda_


def _variables(lambda_: Emulator) -> dict[str, str]:
    """Return the variables of a process that enqueues in the mode `prompt`."""
    return {
        "MINUTEHAND_MODE": "prompt",
        "MINUTEHAND_WORKER": "minutehand-worker",
        "MINUTEHAND_DISPATCHER": "minutehand-dispatcher",
        "AWS_ENDPOINT_URL_LAMBDA": lambda_.url,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "emulator",
        "AWS_SECRET_ACCESS_KEY": "emulator",
    }
