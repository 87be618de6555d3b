"""The dispatcher installs declared schedules and fires them."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from minutehand import NewJob, schedules
from minutehand.kinds import registry
from minutehand.operations.controls import list_controls
from minutehand.schedules import Schedule
from tests.functions.fleet import Fleet

DECLARED = """
from minutehand import NewJob
from minutehand.schedules import Schedule
SCHEDULES = [Schedule("boot", "@reboot", NewJob("echo")), Schedule("report", "@daily", NewJob("echo"))]
"""

DECORATED = """
from minutehand import job
@job(every="0 8 * * mon", zone="Europe/Berlin", queue="slow")
def weekly(weeks: int = 1) -> None: ...
"""


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "declared_here.py").write_text(DECLARED)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("MINUTEHAND_SCHEDULES", "declared_here:SCHEDULES")


@pytest.mark.usefixtures("declared")
def test_first_tick_installs_and_fires_declared_schedules(fleet: Fleet) -> None:
    facts = fleet.tick()

    assert (facts["fired"], facts["missed"], facts["invoked"]) == (1, 0, 1)
    assert [fleet.work(invitation) for invitation in fleet.aws.events] == [{"done": 1}]
    assert [each.schedule.name for each in schedules.list_schedules(fleet.database, "deploy")] == [
        "boot",
        "report",
    ]
    assert fleet.tick()["fired"] == 0


@pytest.mark.usefixtures("declared")
def test_new_code_version_fires_reboot_again(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fleet.tick()["fired"] == 1
    monkeypatch.setenv("MINUTEHAND_VERSION", "2")
    fleet.dispatcher.install_declared.cache_clear()  # as in a new environment

    assert fleet.tick()["fired"] == 1
    assert fleet.tick()["fired"] == 0


@pytest.mark.usefixtures("declared")
def test_tick_installs_the_schedules_of_decorated_functions(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "decorated_here.py").write_text(DECORATED)
    (tmp_path / "without_schedules.py").write_text(
        "from minutehand import job\n@job\ndef daily(): ...\nraise SystemExit"
    )
    monkeypatch.setenv("MINUTEHAND_HANDLERS", "decorated_here,without_schedules")
    monkeypatch.setattr(registry, "_declared", {})

    fleet.tick()

    installed = {
        each.schedule.name: each.schedule for each in schedules.list_schedules(fleet.database, "deploy")
    }
    assert list(installed) == ["boot", "report", "weekly"]
    assert installed["weekly"].job == NewJob("weekly", queue="slow")
    assert (installed["weekly"].every, installed["weekly"].zone) == ("0 8 * * mon", "Europe/Berlin")


def test_failed_schedule_installation_does_not_stop_the_tick(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MINUTEHAND_SCHEDULES", "no_such_module")
    fleet.enqueue()

    assert fleet.tick()["invoked"] == 1
    assert "schedules are not installed" in capsys.readouterr().out


@pytest.mark.usefixtures("declared")
def test_schedule_of_another_source_does_not_stop_the_others(
    fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    schedules.save(fleet.database, Schedule("report", "@hourly", NewJob("echo")))
    fleet.tick()
    assert "schedules of other sources have the names report" in capsys.readouterr().out
    assert {each.schedule.name: each.source for each in schedules.list_schedules(fleet.database)} == {
        "boot": "deploy",
        "report": None,
    }

    schedules.delete(fleet.database, "report")
    fleet.tick()
    assert schedules.get(fleet.database, "report").source == "deploy"


def test_firings_have_metrics(fleet: Fleet, capsys: pytest.CaptureFixture[str]) -> None:
    schedules.save(fleet.database, Schedule("often", "* * * * *", NewJob("echo"), overlap="skip"))
    fleet.database.run("advance_schedules", moves=_moved(fleet))

    facts = fleet.tick()

    assert facts["fired"] == 1
    assert facts["skipped"] >= 1
    assert facts["missed"] >= 50
    assert '"missed"' in capsys.readouterr().out


def _moved(fleet: Fleet) -> str:
    """Move the next occurrence of the schedule one hour into the past, as after an outage."""
    (row,) = fleet.database.run("get_schedule", name="often")
    then = (row["next"] - timedelta(hours=1)).isoformat()
    return json.dumps([{"tenant": "", "name": "often", "next": then, "wake": then}])


def test_first_tick_installs_declared_limits(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A list LIMITS in the module of the schedules; with none, the limits of the last deploy are removed."""
    text = "from minutehand.operations.declared import Limit\nLIMITS = [Limit(limit=2, queue='mail')]\nSCHEDULES = []"
    (tmp_path / "with_limits.py").write_text(text)
    (tmp_path / "without_limits.py").write_text("SCHEDULES = []")
    monkeypatch.syspath_prepend(tmp_path)
    for module, scopes in [("with_limits", ["queue mail"]), ("without_limits", [])]:
        monkeypatch.setenv("MINUTEHAND_SCHEDULES", f"{module}:SCHEDULES")
        fleet.tick()
        assert [each.scope for each in list_controls(fleet.database)] == scopes
