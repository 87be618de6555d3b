"""Embedded Postgres servers for the tests of minutehand.local."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from minutehand.local import postgres
from tests.unit.embedded import Start


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory with a short path that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="minutehand-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory) / "postgres"


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    """Start servers on `home`; a running one is stopped after the test."""
    yield lambda **options: postgres.start(home, **options)
    postgres.stop(home)
