"""Events that hooks receive."""

from collections.abc import Iterator

import pytest

from minutehand.events import hooks
from minutehand.events.sinks import deliveries
from minutehand.model.event import Event


@pytest.fixture
def seen() -> Iterator[list[Event]]:
    """The events that a hook of this process receives."""
    seen: list[Event] = []
    hook = hooks.on("*", seen.append)
    yield seen
    hooks.off(hook)


@pytest.fixture(autouse=True)
def fresh() -> None:
    """Forget sinks and modules of hooks that were loaded before."""
    deliveries.cache_clear()
    hooks._load.cache_clear()
