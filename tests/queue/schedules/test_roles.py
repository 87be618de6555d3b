"""Schedules by role: a dispatcher fires all, an operator changes them, and a tenant sees its own."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from minutehand import NewJob, NotFoundError, schedules
from minutehand.database import Database
from minutehand.database.tenants import TenantDatabase
from minutehand.errors import ForbiddenError
from minutehand.schedules import Schedule, install
from minutehand.schedules.fire import Fired, fire_due, prune
from tests import servers
from tests.queue.logins import Login, logins

pytestmark = pytest.mark.every_version

NOON = datetime(2030, 6, 3, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
REPORT = Schedule("report", "@hourly", NewJob("report"), ahead=2 * HOUR)


@pytest.fixture
def login(direct_database: servers.Database) -> Iterator[Login]:
    with logins(direct_database) as login:
        yield login


def test_worker_role_can_install_fire_and_prune_schedules(login: Login) -> None:
    worker = login("worker")
    install(worker, [REPORT], now=NOON)

    assert fire_due(worker, NOON) == Fired(fired=2)
    install(worker, [], now=NOON)
    assert prune(worker, NOON) == 0


def test_operator_role_can_manage_schedules(login: Login) -> None:
    operator = login("operator")
    schedules.save(operator, REPORT, now=NOON)
    fire_due(login("worker"), NOON)

    schedules.pause(operator, "report", now=NOON)
    schedules.resume(operator, "report", now=NOON)
    schedules.run_now(operator, "report")
    # Pause withdrew the job enqueued ahead.
    assert len(schedules.list_firings(operator, "report")) == 1
    schedules.delete(operator, "report")


def test_tenant_sees_only_its_own_schedules(login: Login) -> None:
    operator = login("operator")
    acme, other = (TenantDatabase(operator, name) for name in ("acme", "other"))
    schedules.save(acme, REPORT, now=NOON)
    schedules.save(other, Schedule("theirs", "@hourly", NewJob("secret")), now=NOON)

    assert [each.schedule.name for each in schedules.list_schedules(acme)] == ["report"]
    assert len(schedules.list_schedules(operator)) == 2
    for act in (schedules.get, schedules.pause, schedules.run_now, schedules.delete):
        with pytest.raises(NotFoundError):
            act(acme, "theirs")  # type: ignore[operator]
    schedules.run_now(other, "theirs")
    line = (
        '[{"tenant": "other", "schedule": "theirs", "nominal": "2030-01-01", "outcome": "fired", "job": {}}]'
    )
    with pytest.raises(ForbiddenError):
        acme.run("fire", firings=line, lock_wait=1000)
    assert fire_due(login("worker"), NOON + HOUR).fired == 4


@pytest.mark.parametrize("role", ["enqueuer"])
def test_enqueuer_role_cannot_fire_schedules(login: Login, role: str) -> None:
    session: Database = login(role)
    for act in (
        lambda: session.run("fire", firings="[]", lock_wait=1000),
        lambda: schedules.list_schedules(session),
    ):
        with pytest.raises(ForbiddenError):
            act()
