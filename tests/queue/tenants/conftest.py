"""A session of the tenant role."""

import pytest

from minutehand import Database
from tests.queue.logins import Login


@pytest.fixture
def tenant(login: Login) -> Database:
    """A session of a login with the tenant role, with no tenant set."""
    return login("tenant")
