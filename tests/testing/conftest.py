"""What the tests of minutehand.testing share: a user's project to run pytest on."""

from collections.abc import Iterator
from shutil import rmtree

import pytest

from tests.testing.project import Project, in_a_short_place

CONFTEST = """
    pytest_plugins = ["minutehand.testing"]
"""


@pytest.fixture
def project() -> Iterator[Project]:
    """A project whose conftest loads the fixtures."""
    home = in_a_short_place()
    yield Project(home).write(conftest=CONFTEST)
    rmtree(home)
