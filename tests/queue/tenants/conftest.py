"""Logins, and a session of the tenant role."""

import pytest

from minutehand import Database
from tests.queue.logins import Login


@pytest.fixture
def tenant(login: Login) -> Database:
    """A session of a login that is a tenant's, which has not said yet whose it is."""
    return login("tenant")
