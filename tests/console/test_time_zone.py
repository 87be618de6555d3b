"""The time zone: the reader's or UTC, on every page, and kept."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Page, expect

from minutehand import Database, NewJob, enqueue, schedules
from minutehand.operations.controls import pause
from tests.browsers import opened_page
from tests.console.conftest import Serve

TOKYO = "Asia/Tokyo"
RUN_AT = datetime(2030, 1, 31, 20, 15, 30, tzinfo=UTC)


@pytest.fixture
def reader(browser: Browser) -> Iterator[Page]:
    """The page of a reader in Tokyo, nine hours before UTC, without summer time."""
    with opened_page(browser, timezone_id=TOKYO) as page:
        yield page


def shown(zone: str) -> re.Pattern[str]:
    return re.compile(f"{RUN_AT.astimezone(ZoneInfo(zone)):%b %-d, %Y, %H:%M}")


def test_time_zone_is_kept_and_applies_on_every_page(reader: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", run_at=RUN_AT, connection=db).id
    pause(db, queue="mail", until=RUN_AT)
    schedules.save(db, schedules.Schedule("once", "PT1H", NewJob("report"), zone="UTC", starts=RUN_AT))
    url = f"{serve(MINUTEHAND_LOCAL='1')}/console"
    # The pages with exact times, and where these are.
    places = {
        f"/jobs/{job}": [".facts", ".timeline"],
        "/queues": ["table[aria-label='Pauses and limits']"],
        "/schedules?name=once": [".facts", "table[aria-label='Next occurrences'] tbody tr >> nth=0"],
    }
    for choice, zone in ((TOKYO, TOKYO), ("UTC", "UTC")):
        for path, parts in places.items():
            reader.goto(url + path)
            expect(reader.get_by_role("button", name=choice, exact=True)).to_be_visible()
            for part in parts:
                expect(reader.locator(part)).to_contain_text(shown(zone))
        # The next pages are opened by their addresses: the choice outlives this one.
        reader.get_by_role("button", name=choice, exact=True).click()


def test_time_zone_changes_the_charts_and_the_reason(reader: Page, serve: Serve, db: Database) -> None:
    job = enqueue("mail.send", run_at=RUN_AT, connection=db).id
    url = f"{serve(MINUTEHAND_LOCAL='1')}/console"
    reader.goto(f"{url}?window=1h")
    axis = reader.locator(".axis span").first
    local = axis.text_content()
    reader.get_by_role("button", name=TOKYO).click()
    expect(axis).not_to_have_text(local or "")
    later = datetime.strptime(axis.text_content() or "", "%H:%M") - datetime.strptime(local or "", "%H:%M")
    # The chart moves on each minute.
    assert timedelta(0) <= later % timedelta(days=1) - timedelta(hours=15) <= timedelta(minutes=1)

    reader.goto(f"{url}/jobs/{job}")
    expect(reader.locator(".why")).to_contain_text("20:15:30")
    reader.get_by_role("button", name="UTC", exact=True).click()
    expect(reader.locator(".why")).to_contain_text("05:15:30")
