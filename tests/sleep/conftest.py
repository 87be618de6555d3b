"""Fixtures of the tests of mode sleep."""

from collections.abc import Iterator
from contextlib import closing
from uuid import uuid4

import pytest

from minutehand.testing.databases import Databases, at, make_template
from tests.servers import Servers
from tests.sleep.event_bridge import EventBridge
from tests.sleep.stage import Stage


@pytest.fixture
def event_bridge(monkeypatch: pytest.MonkeyPatch) -> Iterator[EventBridge]:
    """EventBridge Scheduler, and the settings of mode sleep."""
    with EventBridge(monkeypatch) as event_bridge:
        yield event_bridge


@pytest.fixture(scope="package")
def databases_with_clock(servers: Servers) -> Iterator[Databases]:
    """Migrated databases whose clock a test can move."""
    url, template = servers.address("direct-18").admin_url, f"clock_{uuid4().hex[:12]}_template"
    make_template(url, template, lambda _: None)
    with closing(Databases(url, template, "strategy file_copy")) as databases:
        yield databases
        databases.drop(at(url, template))


@pytest.fixture
def url_with_clock(databases_with_clock: Databases) -> Iterator[str]:
    """A migrated database whose clock a test can move."""
    with databases_with_clock.clone() as url:
        yield url


@pytest.fixture
def stage(url_with_clock: str, event_bridge: EventBridge) -> Iterator[Stage]:
    stage = Stage(url_with_clock, event_bridge)
    with closing(stage.database), closing(stage.worker):
        yield stage
