"""Pytest fixtures for Django: each test's database has Django's tables, and Django uses it.

pytest_plugins = ["minutehand.testing", "minutehand.integrations.django.testing"]

They set up Django with DJANGO_SETTINGS_MODULE, whose database `default` must be Postgres; the tests never use the one
that the settings name.
"""

from collections.abc import Callable, Iterator

import django
import pytest
from asgiref.sync import SyncToAsync
from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections

from minutehand.database.opening import read_url
from minutehand.settings import names_database
from minutehand.testing import Clone

# Settings may read DATABASE_URL when they are imported. Nothing connects to this database.
UNUSED = "postgresql:///unused"


def pytest_configure() -> None:
    """Set up Django before the modules of tests import models."""
    if apps.ready:
        return
    with pytest.MonkeyPatch.context() as patch:
        if not names_database():
            patch.setenv("DATABASE_URL", UNUSED)
        django.setup()


@pytest.fixture(scope="session")
def minutehand_migrations() -> Callable[[str], object]:
    """Create Django's tables, once per run."""

    def migrate(url: str) -> None:
        _use(url)
        call_command("migrate", verbosity=0)
        connection.close()

    return migrate


@pytest.fixture
def minutehand_database(minutehand_database: Clone) -> Iterator[Clone]:
    """Let Django use the database of this test."""
    _use(minutehand_database.url)
    yield minutehand_database
    _close()


def _close() -> None:
    connection.close()
    # Django's async functions use connections of this thread.
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()


def _use(url: str) -> None:
    _close()
    parts = read_url(url)
    name = parts.pop("dbname")
    connection.settings_dict.update(NAME=name, USER="", PASSWORD="", HOST="", PORT="", OPTIONS=parts)
