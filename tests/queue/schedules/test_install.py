"""Install schedules from code: the result is exactly what the code declares."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest

from minutehand import ConfigurationError, InvalidJobError, NewJob, schedules
from minutehand.operations.audit import list_audit
from minutehand.schedules import Installed, Schedule, install
from minutehand.schedules.fire import Fired, fire_due
from tests.queue.stage import Queue

NOON = datetime(2030, 6, 3, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
REPORT = Schedule("report", "@daily", NewJob("report", {"n": 1}), zone="Europe/Berlin")
CLEAN = Schedule("clean", "PT6H", NewJob("clean"), catch_up="last")


def names(queue: Queue) -> list[str]:
    return [each.schedule.name for each in schedules.list_schedules(queue.database)]


def test_install_creates_declared_schedules_and_removes_others(queue: Queue) -> None:
    assert install(queue.database, [REPORT, CLEAN], now=NOON) == Installed(added=("report", "clean"))
    assert install(queue.database, [CLEAN], now=NOON) == Installed(unchanged=("clean",), removed=("report",))

    assert names(queue) == ["clean"]


def test_unchanged_schedule_keeps_its_next_time_and_pause(queue: Queue) -> None:
    install(queue.database, [REPORT, CLEAN], now=NOON)
    schedules.pause(queue.database, "report", now=NOON)
    before = [schedules.get(queue.database, name) for name in ("report", "clean")]

    again = install(queue.database, [replace(REPORT), replace(CLEAN)], now=NOON + 30 * HOUR)

    assert again == Installed(unchanged=("report", "clean"))
    assert [schedules.get(queue.database, name) for name in ("report", "clean")] == before


@pytest.mark.parametrize(
    "change",
    [
        {"every": "@hourly"},
        {"zone": "Asia/Tokyo"},
        {"job": NewJob("report", {"n": 2})},
        {"catch_up": "all"},
        {"jitter": HOUR},
        {"ends": NOON + 90 * HOUR},
        {"overlap": "skip"},
        {"max_catch_up": 3},
        {"ahead": HOUR},
    ],
    ids=str,
)
def test_install_updates_every_changed_option(direct_queue: Queue, change: dict[str, object]) -> None:
    install(direct_queue.database, [REPORT], now=NOON)
    changed = replace(REPORT, **change)  # type: ignore[arg-type]

    assert install(direct_queue.database, [changed], now=NOON) == Installed(changed=("report",))
    assert schedules.get(direct_queue.database, "report").schedule == changed
    assert install(direct_queue.database, [changed], now=NOON) == Installed(unchanged=("report",))


def test_install_changes_only_the_schedules_of_its_source(queue: Queue) -> None:
    schedules.save(queue.database, replace(CLEAN, name="manual"))
    install(queue.database, [REPORT], source="one")
    install(queue.database, [CLEAN], source="other")
    install(queue.database, [], source="one")
    assert names(queue) == ["clean", "manual"]

    manual, clean = replace(REPORT, name="manual"), replace(REPORT, name="clean")
    installed = install(queue.database, [manual, REPORT, clean], source="one")
    assert installed == Installed(added=("report",), refused=("manual", "clean"))
    assert {name: schedules.get(queue.database, name).schedule.every for name in names(queue)} == {
        "clean": CLEAN.every,
        "manual": CLEAN.every,
        "report": REPORT.every,
    }


def test_installed_schedule_can_only_be_changed_in_code(queue: Queue) -> None:
    install(queue.database, [REPORT], source="deploy")

    with pytest.raises(InvalidJobError, match="was installed from code, by 'deploy'") as refused:
        schedules.save(queue.database, replace(REPORT, every="@hourly"))
    assert refused.value.rule == "schedule_is_own"
    assert install(queue.database, [REPORT], source="deploy") == Installed(unchanged=("report",))


def test_install_is_recorded_in_the_audit_trail_once(queue: Queue) -> None:
    for declared in ([REPORT], [REPORT], [replace(REPORT, every="@hourly")], []):
        install(queue.database, declared, source="deploy")

    entries = [(each.verb, each.actor, each.facts["schedule"]) for each in list_audit(queue.database)]
    put, delete = ("schedule put", "deploy", "report"), ("schedule delete", "deploy", "report")
    assert entries == [delete, put, put]


def test_invalid_schedule_prevents_the_whole_install(queue: Queue) -> None:
    for wrong in (
        replace(CLEAN, every="never"),
        replace(CLEAN, job=NewJob("no kind")),
        replace(CLEAN, name="report"),
    ):
        with pytest.raises(InvalidJobError):
            install(queue.database, [REPORT, wrong])

    assert names(queue) == []


def test_concurrent_installs_equal_a_single_install(queue: Queue) -> None:
    sessions = [queue.another() for _ in range(6)]
    installed = [queue.start(install, session, [REPORT, CLEAN], now=NOON) for session in sessions]

    results = [each.result() for each in installed]

    assert results.count(Installed(added=("report", "clean"))) == 1
    assert results.count(Installed(unchanged=("report", "clean"))) == 5


def test_reboot_fires_once_for_each_version_of_the_code(queue: Queue) -> None:
    boot = Schedule("warm up", "@reboot", NewJob("warm_up"))

    for version, time, expected in (
        ("1", NOON, 1),
        ("1", NOON + HOUR, 0),
        ("2", NOON + 2 * HOUR, 1),
        ("2", NOON + 3 * HOUR, 0),
    ):
        for _ in range(2):
            install(queue.database, [boot, REPORT], version=version, now=time)
        assert fire_due(queue.database, time) == Fired(fired=expected)
    assert schedules.get(queue.database, "warm up").next is None


def test_removed_schedule_withdraws_its_jobs_enqueued_ahead(queue: Queue) -> None:
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
