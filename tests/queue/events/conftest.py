"""Recorded events, and the table sink."""

from collections.abc import Iterator

import pytest

from minutehand.events import hooks
from minutehand.events.sinks import deliveries
from minutehand.model.event import Event


@pytest.fixture
def seen() -> Iterator[list[Event]]:
    """Every event of this process, as a hook is told it."""
    seen: list[Event] = []
    hook = hooks.on("*", seen.append)
    yield seen
    hooks.off(hook)


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Sinks that nobody has used, and modules of hooks that nobody has asked for."""
    deliveries.cache_clear()
    hooks._load.cache_clear()
