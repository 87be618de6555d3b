"""One emulator for the tests of a module; its meter is reset before each test."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from emulator import Clock, Emulator
from emulator.errors import BuildError
from emulator.meter import Reading
from emulator.parts import architecture
from tests.emulator.conftest import CACHE, STACK


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    try:
        architecture()
    except BuildError as error:
        pytest.skip(str(error))
    with Emulator(STACK, cache=CACHE, clock=Clock(speed=0)) as made:
        yield made


@pytest.fixture
def lambda_(emulator: Emulator) -> Emulator:
    """The same for all tests, with a meter that begins at 0."""
    emulator.meter.functions.clear()
    emulator.concurrency.highest.clear()
    return emulator


@pytest.fixture
def callers() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def used(lambda_: Emulator) -> Reading:
    return lambda_.meter.total


def waiting(folder: Path) -> dict[str, str]:
    return {"do": "wait", "folder": str(folder)}
