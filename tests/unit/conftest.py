"""Embedded Postgres servers for the tests of minutehand.local."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from minutehand.local import postgres
from tests.unit.embedded import Start


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory with a short path, at a place that is open to every user."""
    with tempfile.TemporaryDirectory(prefix="minutehand-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory) / "postgres"


@pytest.fixture
def start(home: Path) -> Iterator[Start]:
    """Start a server on `home`; whatever runs there at the end is stopped."""
    yield lambda **options: postgres.start(home, **options)
    postgres.stop(home)
