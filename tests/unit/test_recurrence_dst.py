"""Recurrences across every DST change of awkward time zones."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from minutehand.model.recurrence import next_after
from tests.unit.clock_changes import (
    ALL,
    DAY,
    HOUR,
    LOST_DAY,
    SOME,
    ZONES,
    changes,
    expected_by_name,
    fired,
    walls,
)


def test_zone_changes_are_complete() -> None:
    counts = {zone: len(changes(zone)) for zone in ZONES}

    assert (
        counts["America/Phoenix"] == counts["Asia/Kolkata"] == counts["Asia/Kathmandu"] == counts["UTC"] == 0
    )
    assert counts["America/Los_Angeles"] == counts["Europe/Berlin"] == counts["Pacific/Chatham"] == 40
    assert counts["Africa/Casablanca"] >= 38
    assert len(ALL) > 400


@pytest.mark.thorough
def test_daily_expression_fires_once_a_day_at_every_dst_change() -> None:
    """A skipped time fires at the end of the gap, a repeated one at its first occurrence."""
    for zone, change in SOME:
        reach = (30 if (zone, change) == LOST_DAY else 12) * HOUR
        begin, end = change - reach, change + reach
        shown = walls(zone, begin - 3 * HOUR, end + 3 * HOUR)
        wall_of = dict(shown)
        near = [wall_of[change], wall_of[change - timedelta(minutes=1)]]
        times = {(wall + timedelta(minutes=m)).time() for wall in near for m in range(-60, 61, 30)}
        days = [near[0].date() + n * DAY for n in range(-4, 5)]
        for time in sorted(times):
            found = fired(f"{time.minute} {time.hour} * * *", zone, begin, end)

            named = [
                wall
                for wall in (datetime.combine(day, time) for day in days)
                if shown[0][1] < wall < shown[-1][1]
            ]
            wanted = {expected_by_name(wall, shown) for wall in named}
            assert found == sorted(m for m in wanted if begin < m < end), (zone, change, time)
            assert found, "never zero times"


@pytest.mark.thorough
def test_ten_minute_expression_follows_elapsed_time_across_dst() -> None:
    for zone, change in SOME:
        begin, end = change - 3 * HOUR, change + 3 * HOUR

        found = fired("*/10 * * * *", zone, begin, end)

        assert found == [m for m, at in walls(zone, begin, end) if at.minute % 10 == 0 and m > begin], (
            zone,
            change,
        )


@pytest.mark.thorough
def test_hourly_expression_fires_at_every_full_local_hour() -> None:
    for zone, change in SOME:
        begin, end = change - 6 * HOUR, change + 6 * HOUR

        found = fired("@hourly", zone, begin, end)

        assert found == [m for m, at in walls(zone, begin, end) if at.minute == 0 and m > begin], (
            zone,
            change,
        )


@pytest.mark.parametrize("every", ["0 * * * *", "30 2 * * *"])
def test_seconds_do_not_change_how_an_expression_follows_dst(every: str) -> None:
    for change in changes("Europe/Berlin")[:2]:
        begin, end = change - DAY, change + DAY

        assert fired(f"0 {every}", "Europe/Berlin", begin, end) == fired(every, "Europe/Berlin", begin, end)


@pytest.mark.thorough
def test_minute_wildcard_fires_exactly_at_matching_local_times() -> None:
    for zone, change in SOME:
        hour = (change - timedelta(minutes=1)).astimezone(ZoneInfo(zone)).hour
        begin, end = change - 4 * HOUR, change + 4 * HOUR

        found = fired(f"*/15 {hour} * * *", zone, begin, end)

        wanted = [
            m for m, at in walls(zone, begin, end) if at.hour == hour and at.minute % 15 == 0 and m > begin
        ]
        assert found == wanted, (zone, change)


def test_next_time_does_not_depend_on_the_search_start() -> None:
    for zone, change in ALL[::20]:
        begin, end = change - 3 * HOUR, change + 3 * HOUR
        for every in ("30 1,2 * * *", "*/20 * * * *", "0 * * * *", "15 0-3 * * *"):
            moments = fired(every, zone, begin, end + 26 * HOUR)
            for start in (
                begin + n * timedelta(minutes=7) for n in range(int((end - begin) / timedelta(minutes=7)))
            ):
                assert next_after(every, zone, start) == next(m for m in moments if m > start)


@pytest.mark.thorough
@pytest.mark.parametrize(("every", "most"), [("P1D", 26), ("PT24H", 24), ("P1W", 7 * 24 + 2), ("PT1H", 1)])
def test_duration_never_repeats_or_skips_an_occurrence(every: str, most: int) -> None:
    for zone, change in SOME:
        if (zone, change) == LOST_DAY:
            continue
        anchor = datetime(2001, 1, 1, 2, 15, tzinfo=ZoneInfo(zone))
        moment = change - (
            8 * DAY if every == "P1W" else 30 * HOUR if every[1] != "T" or every == "PT24H" else 4 * HOUR
        )
        for _ in range(6):
            following = next_after(every, zone, moment, anchor=anchor)
            assert following is not None
            assert timedelta() < following - moment <= most * HOUR + HOUR
            moment = following


def test_day_in_los_angeles_may_have_23_or_25_hours() -> None:
    for change in changes("America/Los_Angeles"):
        for zone, hours in (("America/Los_Angeles", {23, 25}), ("America/Phoenix", {24})):
            noon = (change - DAY).astimezone(ZoneInfo(zone)).replace(hour=12, minute=0)
            after = next_after("P1D", zone, noon.astimezone(UTC), anchor=noon)
            assert after is not None
            assert (after - noon.astimezone(UTC)) / HOUR in hours
            assert after.astimezone(ZoneInfo(zone)).hour == 12
            assert next_after("PT24H", zone, noon.astimezone(UTC)) == noon.astimezone(UTC) + 24 * HOUR


def test_day_skipped_in_apia_fires_at_the_start_of_the_next() -> None:
    zone = LOST_DAY[0]
    found = fired("0 8 * * *", zone, LOST_DAY[1] - 30 * HOUR, LOST_DAY[1] + 30 * HOUR)

    local_times = [moment.astimezone(ZoneInfo(zone)).isoformat() for moment in found]
    assert local_times == [
        "2011-12-29T08:00:00-10:00",
        "2011-12-31T00:00:00+14:00",
        "2011-12-31T08:00:00+14:00",
    ]
