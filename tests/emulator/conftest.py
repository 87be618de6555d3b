"""An emulator of small functions, built once, and helpers that wait."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from emulator import Clock, Emulator
from emulator.errors import BuildError
from emulator.parts import architecture
from tests.waiting import until

ROOT = Path(__file__).parents[2]
STACK = Path(__file__).parent / "stack" / "template.yaml"
CACHE = ROOT / ".emulator"

NewLambda = Callable[..., Emulator]


@pytest.fixture
def new_lambda() -> Iterator[NewLambda]:
    """Create emulators with a stopped clock; they end with the test."""
    try:
        architecture()
    except BuildError as error:
        pytest.skip(str(error))
    with ExitStack() as made:

        def make(template: Path = STACK, **settings: Any) -> Emulator:
            own: dict[str, Any] = {"cache": CACHE, "clock": Clock(speed=0)}
            return made.enter_context(Emulator(template, **own | settings))

        yield make


@pytest.fixture
def lambda_(new_lambda: NewLambda) -> Emulator:
    return new_lambda()


def begun(folder: Path, count: int = 1) -> list[int]:
    """Wait for `count` invocations that wait in a folder, and return their process ids."""
    files = until(lambda: (found := list(folder.glob("*.begun"))) and len(found) >= count and found)
    return until(
        lambda: all(path.read_text() for path in files) and [int(path.read_text()) for path in files]
    )


def ended(*pids: int) -> bool:
    """Wait until processes have ended, because a killed process ends a moment after its signal."""
    return until(lambda: not any(map(lives, pids)))


def lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
