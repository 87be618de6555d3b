"""A tick's firing is bounded in time and in lines of the ledger, and fair across tenants."""

import math
from collections import Counter

import pytest

from minutehand.database.lock_wait import LockWait
from minutehand.schedules.batch import DueSchedule, fire_batch
from minutehand.schedules.fire import LINES_IN_A_TICK, fire_due
from minutehand.schedules.plan import AT_ONCE
from tests.queue.schedules.stage import DAY, HOUR, NOON, nominals, save
from tests.queue.stage import Queue

pytestmark = pytest.mark.every_version


def test_tenants_share_the_lines_of_a_tick(direct_queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    # A slow machine writes fewer lines in the time of a tick.
    monkeypatch.setattr("minutehand.schedules.fire.SECONDS_IN_A_TICK", math.inf)
    for n in range(10):
        save(direct_queue, "PT1S", name=f"bomb {n}", catch_up="all", max_catch_up=1000, overlap="skip")
    direct_queue.sql("update minutehand.schedules set tenant = 'flood'")
    save(direct_queue, "PT1S", name="other", catch_up="all", max_catch_up=1000, overlap="skip")

    for tick in (1, 2):
        fire_due(direct_queue.database, NOON + DAY)
        rows = direct_queue.sql("select tenant from minutehand.firings where outcome <> 'missed'")
        lines = Counter(row["tenant"] for row in rows)
        assert lines == {"flood": tick * LINES_IN_A_TICK // 2, "": min(tick * AT_ONCE, 1301)}


def test_schedules_left_when_the_time_is_up_fire_later(direct_queue: Queue) -> None:
    keys = [DueSchedule(("", save(direct_queue, name=name)), 10) for name in ("a", "b", "c")]

    assert len(fire_batch(direct_queue.database, keys, NOON + HOUR, -math.inf, LockWait()).due) == 1
    assert len(nominals(direct_queue)) == 1
    assert fire_due(direct_queue.database, NOON + HOUR).fired == 2


def test_longest_due_schedule_of_each_tenant_goes_first(direct_queue: Queue) -> None:
    for name in ("a1", "a2", "b1"):
        save(direct_queue, name=name)
    direct_queue.sql("update minutehand.schedules set tenant = left(name, 1)")
    direct_queue.sql("update minutehand.schedules set wake = wake - interval '1 hour' where tenant = 'a'")

    due = direct_queue.database.run("due_schedules", limit=2, now=NOON + HOUR)

    assert [each["name"] for each in due] == ["a1", "b1"]
