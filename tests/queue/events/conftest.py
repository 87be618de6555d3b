"""Events that hooks receive."""

from collections.abc import Iterator

import pytest

from minutehand.events import hooks
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
    """Forget modules of hooks that were loaded before."""
    hooks._load.cache_clear()
