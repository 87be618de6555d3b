"""A user's project to run pytest on."""

from collections.abc import Iterator
from shutil import rmtree

import pytest

from tests.servers import Servers
from tests.testing.project import Project, in_a_short_place

CONFTEST = """
    pytest_plugins = ["minutehand.testing"]
"""


@pytest.fixture
def serverless_project() -> Iterator[Project]:
    """A project whose conftest loads the fixtures, which start a server."""
    home = in_a_short_place()
    yield Project(home).write(conftest=CONFTEST)
    rmtree(home)


@pytest.fixture
def project(serverless_project: Project, servers: Servers) -> Project:
    """A project whose conftest loads the fixtures, which use a server that runs."""
    serverless_project.environment["MINUTEHAND_TEST_DATABASE_URL"] = servers.address("direct-18").admin_url
    return serverless_project
