"""Schedules from code: installing makes them exactly what is declared, and may be done at every start."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest

from minutehand import ConfigurationError, InvalidJobError, NewJob, schedules
from minutehand.schedules import Installed, Schedule, install
from minutehand.schedules.fire import Fired, fire_due
from tests.queue.stage import Queue

NOON = datetime(2030, 6, 3, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
REPORT = Schedule("report", "@daily", NewJob("report", {"n": 1}), zone="Europe/Berlin")
CLEAN = Schedule("clean", "PT6H", NewJob("clean"), catch_up="last")


def names(queue: Queue) -> list[str]:
    return [each.schedule.name for each in schedules.list_schedules(queue.database)]


def test_what_is_declared_is_there_and_what_is_declared_no_more_is_gone(queue: Queue) -> None:
    assert install(queue.database, [REPORT, CLEAN], now=NOON) == Installed(added=("report", "clean"))
    assert install(queue.database, [CLEAN], now=NOON) == Installed(unchanged=("clean",), removed=("report",))

    assert names(queue) == ["clean"]


def test_unchanged_schedule_keeps_its_next_moment_and_pause(queue: Queue) -> None:
    install(queue.database, [REPORT, CLEAN], now=NOON)
    schedules.pause(queue.database, "report", now=NOON)
    before = [schedules.get(queue.database, name) for name in ("report", "clean")]

    again = install(queue.database, [replace(REPORT), replace(CLEAN)], now=NOON + 30 * HOUR)

    assert again == Installed(unchanged=("report", "clean"))
    assert [schedules.get(queue.database, name) for name in ("report", "clean")] == before


@pytest.mark.parametrize(
    "change",
    [{"every": "@hourly"}, {"zone": "Asia/Tokyo"}, {"job": NewJob("report", {"n": 2})}, {"catch_up": "all"},
     {"jitter": HOUR}, {"ends": NOON + 90 * HOUR}, {"overlap": "skip"}, {"most": 3}, {"ahead": HOUR}],
    ids=str,
)  # fmt: skip
def test_whatever_is_said_otherwise_is_changed(direct_queue: Queue, change: dict[str, object]) -> None:
    install(direct_queue.database, [REPORT], now=NOON)
    changed = replace(REPORT, **change)  # type: ignore[arg-type]

    assert install(direct_queue.database, [changed], now=NOON) == Installed(changed=("report",))
    assert schedules.get(direct_queue.database, "report").schedule == changed
    assert install(direct_queue.database, [changed], now=NOON) == Installed(unchanged=("report",))


def test_sources_do_not_touch_each_others_schedules_nor_those_put_by_hand(queue: Queue) -> None:
    schedules.save(queue.database, replace(CLEAN, name="by hand"))
    install(queue.database, [REPORT], source="one")
    install(queue.database, [CLEAN], source="other")
    install(queue.database, [], source="one")
    assert names(queue) == ["by hand", "clean"]

    for theirs in (replace(REPORT, name="by hand"), replace(REPORT, name="clean")):
        with pytest.raises(InvalidJobError) as refused:
            install(queue.database, [replace(REPORT, name="new"), theirs], source="one")
        assert refused.value.rule == "schedule_is_own"
    assert names(queue) == ["by hand", "clean"]


def test_one_that_is_wrong_installs_none(queue: Queue) -> None:
    for wrong in (
        replace(CLEAN, every="never"),
        replace(CLEAN, job=NewJob("no kind")),
        replace(CLEAN, name="report"),
    ):
        with pytest.raises(InvalidJobError):
            install(queue.database, [REPORT, wrong])

    assert names(queue) == []


def test_installing_from_many_instances_at_once_is_as_from_one(queue: Queue) -> None:
    sessions = [queue.another() for _ in range(6)]
    installed = [queue.let(install, session, [REPORT, CLEAN], now=NOON) for session in sessions]

    fates = [each.result() for each in installed]

    assert fates.count(Installed(added=("report", "clean"))) == 1
    assert fates.count(Installed(unchanged=("report", "clean"))) == 5


def test_reboot_fires_once_for_each_version_of_the_code(queue: Queue) -> None:
    boot = Schedule("warm up", "@reboot", NewJob("warm_up"))

    for version, moment, wanted in (
        ("1", NOON, 1),
        ("1", NOON + HOUR, 0),
        ("2", NOON + 2 * HOUR, 1),
        ("2", NOON + 3 * HOUR, 0),
    ):
        for _ in range(2):
            install(queue.database, [boot, REPORT], version=version, now=moment)
        assert fire_due(queue.database, moment) == Fired(fired=wanted)
    assert schedules.get(queue.database, "warm up").next is None


def test_what_was_enqueued_ahead_goes_with_its_schedule(queue: Queue) -> None:
    install(queue.database, [replace(REPORT, every="@hourly", ahead=3 * HOUR)], now=NOON)
    assert fire_due(queue.database, NOON).fired == 3

    install(queue.database, [], now=NOON + HOUR)

    left = queue.sql("select nominal from minutehand.jobs where deleted is null")
    assert left == [{"nominal": NOON + HOUR}]


def test_schedules_are_loaded_from_a_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = ModuleType("our_schedules")
    module.SCHEDULES, module.ONE, module.STRANGE = [REPORT, CLEAN], REPORT, [REPORT, "clean"]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "our_schedules", module)

    assert schedules.load("our_schedules") == schedules.load("our_schedules:SCHEDULES") == [REPORT, CLEAN]
    assert schedules.load("our_schedules:ONE") == [REPORT]
    for wrong in ("our_schedules:STRANGE", "our_schedules:NOTHING", "no_such_module"):
        with pytest.raises(ConfigurationError):
            schedules.load(wrong)
