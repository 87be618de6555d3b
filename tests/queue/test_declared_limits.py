"""Limits declared in code: installing them changes what differs, and nothing else."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from minutehand.errors import ConfigurationError, InvalidJobError
from minutehand.operations.audit import list_audit
from minutehand.operations.controls import limit, list_controls, pause, resume, unlimit
from minutehand.operations.declared import InstalledLimits, Limit, install, load
from minutehand.schedules import load as load_schedules
from tests.queue.stage import Queue

SYNC = Limit(limit=3, queue="sync", per="group", break_after=5)
MAIL = Limit(rate=100, period=timedelta(minutes=1), kind="mail", reason="quota")


def installed(queue: Queue, *limits: Limit, source: str = "code") -> InstalledLimits:
    return install(queue.database, limits, source)


def limits_of(queue: Queue) -> dict[str, str]:
    return {each.scope: each.limits for each in list_controls(queue.database)}


def test_install_adds_changes_and_removes_limits(queue: Queue) -> None:
    scope = "queue sync, each group"
    assert installed(queue, SYNC, MAIL) == InstalledLimits(added=(scope, "kind mail"))
    assert limits_of(queue) == {
        "kind mail": "100 starts in 60 s, bursts of 100",
        scope: "at most 3 at once, a pause of 60 s after 5 failures in a row",
    }
    assert installed(queue, replace(SYNC, limit=4), MAIL) == InstalledLimits(
        changed=(scope,), unchanged=("kind mail",)
    )
    assert installed(queue, MAIL) == InstalledLimits(unchanged=("kind mail",), removed=(scope,))
    assert list(limits_of(queue)) == ["kind mail"]


def test_install_is_recorded_in_the_audit_trail_once(queue: Queue) -> None:
    for declared in [(SYNC,), (SYNC,), ()]:
        installed(queue, *declared, source="deploy")

    entries = [(each.verb, each.actor) for each in list_audit(queue.database)]
    assert sorted(entries) == [("limit", "deploy"), ("unlimit", "deploy")]


def test_change_by_a_person_stays_until_the_declaration_changes(queue: Queue) -> None:
    installed(queue, SYNC)
    limit(queue.database, 1, queue="sync", per="group")
    assert installed(queue, SYNC).unchanged
    assert limits_of(queue) == {"queue sync, each group": "at most 1 at once"}
    assert installed(queue, replace(SYNC, limit=9)).changed
    assert "at most 9" in limits_of(queue)["queue sync, each group"]


def test_removed_limit_is_installed_again_also_during_a_pause(queue: Queue) -> None:
    installed(queue, MAIL)
    pause(queue.database, kind="mail")
    unlimit(queue.database, kind="mail")
    assert installed(queue, MAIL).added
    assert installed(queue).removed

    assert resume(queue.database, kind="mail")
    assert limits_of(queue) == {}


@pytest.mark.parametrize("source", [None, "other"])
def test_limit_of_another_source_is_refused(queue: Queue, source: str | None) -> None:
    """The others are installed. Limits of other sources are not removed."""
    if source is None:
        limit(queue.database, 1, kind="mail")
    else:
        installed(queue, MAIL, source=source)
    before = limits_of(queue)

    scope = "queue sync, each group"
    assert installed(queue, SYNC, MAIL) == InstalledLimits(added=(scope,), refused=("kind mail",))
    assert installed(queue).removed == (scope,)
    assert limits_of(queue) == before


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ([MAIL, MAIL], "declared twice"),
        ([Limit(queue="mail")], "at least one of limit"),
        ([Limit(limit=1)], "at least one of queue"),
    ],
)
def test_invalid_declaration_changes_nothing(queue: Queue, limits: list[Limit], message: str) -> None:
    with pytest.raises(InvalidJobError, match=message):
        installed(queue, SYNC, *limits)

    assert limits_of(queue) == {}


def test_eight_sessions_install_each_limit_once(queue: Queue) -> None:
    def session(_: int) -> InstalledLimits:
        return install(queue.another(), [SYNC, MAIL])

    results = [each.result() for each in [queue.start(session, place) for place in range(8)]]

    assert sorted(len(each.added) for each in results) == [0] * 7 + [2]


def test_module_without_limits_declares_none(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "limits_here.py").write_text("LIMITS = [1]")
    monkeypatch.syspath_prepend(tmp_path)

    assert load("limits_here:OTHERS") == []
    with pytest.raises(ConfigurationError, match="must contain only Limit objects, got int"):
        load("limits_here")
    with pytest.raises(ConfigurationError, match="could not be loaded from missing_module"):
        load("missing_module")


def test_module_with_a_syntax_error_is_reported(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_limits.py").write_text("LIMITS = [")
    monkeypatch.syspath_prepend(tmp_path)

    with pytest.raises(ConfigurationError, match=r"never closed \(broken_limits.py, line 1\)"):
        load("broken_limits")
    with pytest.raises(ConfigurationError, match=r"never closed \(broken_limits.py, line 1\)"):
        load_schedules("broken_limits")
