"""`minutehand tick --wake` wakes the dispatcher for jobs that SQL has enqueued; other commands do it themselves."""

import psycopg
import pytest
from click.testing import CliRunner, Result

from minutehand.cli.app import cli
from tests.sleep.event_bridge import EventBridge


def wake(monkeypatch: pytest.MonkeyPatch, url: str) -> Result:
    monkeypatch.setenv("DATABASE_URL", url)
    return CliRunner().invoke(cli, ["tick", "--wake"], prog_name="minutehand")


def test_wake_creates_the_wakeup_of_the_next_minute(
    url_with_clock: str, event_bridge: EventBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = wake(monkeypatch, url_with_clock)

    assert (result.exit_code, result.stderr) == (0, "The dispatcher ticks at the next minute.\n")
    assert len(event_bridge.minutes) == 1


def test_wake_that_creates_no_wakeup_fails(
    url_with_clock: str, event_bridge: EventBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINUTEHAND_WAKEUP_GROUP", "absent")

    result = wake(monkeypatch, url_with_clock)

    assert result.exit_code == 1
    assert result.stderr.startswith("The dispatcher was not woken: the wake-up wake-")


def test_wake_in_the_mode_minute_is_rejected(url_with_clock: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_MODE", "minute")

    result = wake(monkeypatch, url_with_clock)

    assert result.exit_code == 2
    assert "--wake requires MINUTEHAND_MODE=prompt or sleep" in result.stderr


def test_enqueue_requests_its_tick_without_a_warning(
    url_with_clock: str, event_bridge: EventBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(url_with_clock) as connection:
        connection.execute("update minutehand.dispatcher set mode = 'sleep'")
    monkeypatch.setenv("DATABASE_URL", url_with_clock)

    result = CliRunner().invoke(cli, ["enqueue", "echo"], prog_name="minutehand")

    assert (result.exit_code, result.stderr) == (0, "")
    assert len(event_bridge.minutes) == 1
