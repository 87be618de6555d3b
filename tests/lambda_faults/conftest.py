"""The stack with a database of the test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from emulator import Clock
from tests.lambda_faults.stage import Stage, staged, template
from tests.servers import Database

NewStage = Callable[..., Stage]


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return template(tmp_path_factory.mktemp("stack"))


@pytest.fixture
def new_stage(direct_database: Database, tree: Path) -> Iterator[NewStage]:
    """Start the stack: `new_stage(seconds=60, clock=Clock(speed=0), MINUTEHAND_GRACE="1")`."""
    with ExitStack() as made:

        def make(seconds: int = 60, clock: Clock | None = None, **variables: str) -> Stage:
            return made.enter_context(
                staged(direct_database, tree, clock or Clock(speed=0), seconds, {}, **variables)
            )

        yield make
