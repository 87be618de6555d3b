"""The first time of a recurring duration is the same in SQL as in Python, also around clock changes."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from minutehand.database import connect
from minutehand.model.recurrence import next_after
from tests.servers import Database as Address
from tests.unit.clock_changes import LOST_DAY, changes

# Whose changes of these years every edition of the time zones has.
ZONES = ["Europe/Berlin", "Europe/Dublin", "America/Los_Angeles", "Australia/Lord_Howe", "Antarctica/Troll"]
CHANGES = [
    (zone, change)
    for zone in ZONES
    for change in changes(zone, datetime(2020, 1, 1, tzinfo=UTC), datetime(2022, 1, 1, tzinfo=UTC))
]
DURATIONS = ["PT1S", "PT1H", "PT30M", "PT24H", "PT1.5H", "P1D", "P1DT1H", "P1W", "P1M", "P1Y2M3DT4H5M6.5S"]
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
FIRST = """
select every, zone, moment, minutehand.first_of(every, zone, moment)
  from unnest(%s::text[]) every, unnest(%s::text[], %s::timestamptz[]) times (zone, moment)
"""


@pytest.fixture
def connection(direct_database: Address) -> Iterator[psycopg.Connection]:
    with connect(direct_database.url) as connection:
        connection.execute("set timezone to 'America/New_York'")
        yield connection


def test_first_time_of_a_duration_is_that_of_python(connection: psycopg.Connection) -> None:
    times = [
        (zone, change + days + n * 15 * MINUTE + timedelta(microseconds=7))
        for zone, change in [*CHANGES, LOST_DAY]
        for days in (timedelta(), -DAY, -7 * DAY)
        for n in range(-10, 10)
    ]
    found = connection.execute(FIRST, [DURATIONS, *map(list, zip(*times, strict=True))]).fetchall()

    assert len(found) == len(times) * len(DURATIONS)
    assert [
        (every, zone, moment, first)
        for every, zone, moment, first in found
        if first.astimezone(UTC) != next_after(every, zone, moment, anchor=moment)
    ] == []


def test_hourly_job_starts_after_an_hour_at_a_clock_change(connection: psycopg.Connection) -> None:
    for moment in ("2026-10-25 00:30+00", "2026-03-29 00:30+00"):
        found = connection.execute(
            "select visible - %s from minutehand.put_all(array[json_populate_record(null::minutehand.new_jobs,"
            """ '{"ordinal": 0, "kind": "echo", "every": "PT1H", "zone": "Europe/Berlin"}')], 'replace', %s, 0, '')""",
            [moment, moment],
        )
        assert found.fetchall() == [(HOUR,)]
