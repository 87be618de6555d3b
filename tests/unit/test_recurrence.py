"""Recurrences across every DST change of awkward time zones."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest

from minutehand.errors import InvalidJobError
from minutehand.model.recurrence import check, next_after

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
# The clocks: ordinary ones, half an hour (Lord Howe), 45 minutes off (Chatham), Ramadan (Casablanca), changes at
# midnight (Santiago, Beirut, Cairo, Asuncion), at different days (Jerusalem), backwards (Dublin), two hours (Troll), a
# change of the law (Sao Paulo, Volgograd, Apia), and those that never change.
ZONES = [
    "America/Los_Angeles", "America/Phoenix", "Australia/Lord_Howe", "Pacific/Chatham", "Pacific/Apia",
    "Africa/Casablanca", "Europe/Berlin", "America/Sao_Paulo", "America/Santiago", "Asia/Beirut", "Africa/Cairo",
    "America/Asuncion", "Asia/Jerusalem", "Europe/Dublin", "Antarctica/Troll", "Europe/Volgograd",
    "America/Scoresbysund", "Asia/Kolkata", "Asia/Kathmandu", "UTC",
]  # fmt: skip
FIRST, LAST = datetime(2020, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)


@cache
def changes(zone: str, first: datetime = FIRST, last: datetime = LAST) -> tuple[datetime, ...]:
    """Every second at which a zone's clocks are changed, found by another way than the code's."""
    clocks, found = ZoneInfo(zone), []
    hours = int((last - first) / HOUR)
    offsets = [(first + n * HOUR).astimezone(clocks).utcoffset() for n in range(hours)]
    for n in (n for n in range(1, hours) if offsets[n] != offsets[n - 1]):
        begin = first + (n - 1) * HOUR
        found.append(
            next(
                begin + timedelta(minutes=m)
                for m in range(1, 61)
                if (begin + timedelta(minutes=m)).astimezone(clocks).utcoffset() != offsets[n - 1]
            )
        )
    return tuple(found)


ALL = [(zone, change) for zone in ZONES for change in changes(zone)]
LOST_DAY = ("Pacific/Apia", datetime(2011, 12, 30, 10, tzinfo=UTC))
ALL.append(LOST_DAY)


def minutes(begin: datetime, end: datetime) -> Iterator[datetime]:
    while begin < end:
        yield begin
        begin += timedelta(minutes=1)


def fired(every: str, zone: str, begin: datetime, end: datetime) -> list[datetime]:
    """All moments after `begin` and before `end`."""
    found, moment = [], begin
    while (moment := next_after(every, zone, moment)) < end:  # type: ignore[assignment,operator]
        found.append(moment)
    return found


def walls(zone: str, begin: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    """Every minute with what the wall clock shows then."""
    clocks = ZoneInfo(zone)
    return [(m, m.astimezone(clocks).replace(tzinfo=None)) for m in minutes(begin, end)]


def expected_by_name(wall: datetime, shown: list[tuple[datetime, datetime]]) -> datetime:
    """The rule in its simplest form: the first minute that shows the time, or a later time of a day that jumped."""
    return next(moment for moment, at in shown if at >= wall)


def test_zone_changes_are_complete() -> None:
    counts = {zone: len(changes(zone)) for zone in ZONES}

    assert (
        counts["America/Phoenix"] == counts["Asia/Kolkata"] == counts["Asia/Kathmandu"] == counts["UTC"] == 0
    )
    assert counts["America/Los_Angeles"] == counts["Europe/Berlin"] == counts["Pacific/Chatham"] == 40
    assert counts["Africa/Casablanca"] >= 38
    assert len(ALL) > 400


def test_daily_expression_fires_once_a_day_at_every_dst_change() -> None:
    """In a gap at its end, of two moments the first."""
    for zone, change in ALL:
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


def test_ten_minute_expression_follows_elapsed_time_across_dst() -> None:
    for zone, change in ALL:
        begin, end = change - 3 * HOUR, change + 3 * HOUR

        found = fired("*/10 * * * *", zone, begin, end)

        assert found == [m for m, at in walls(zone, begin, end) if at.minute % 10 == 0 and m > begin], (
            zone,
            change,
        )


def test_hourly_expression_fires_at_every_full_local_hour() -> None:
    for zone, change in ALL:
        begin, end = change - 6 * HOUR, change + 6 * HOUR

        found = fired("@hourly", zone, begin, end)

        assert found == [m for m, at in walls(zone, begin, end) if at.minute == 0 and m > begin], (
            zone,
            change,
        )


def test_minute_wildcard_fires_exactly_at_matching_local_times() -> None:
    for zone, change in ALL:
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


@pytest.mark.parametrize(("every", "most"), [("P1D", 26), ("PT24H", 24), ("P1W", 7 * 24 + 2), ("PT1H", 1)])
def test_duration_never_repeats_or_skips_an_occurrence(every: str, most: int) -> None:
    for zone, change in ALL:
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


MONTHS = ["2026-06-30", "2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31", "2026-11-30", "2026-12-31"]


def test_months_are_counted_from_the_anchor() -> None:
    anchor = moment = datetime(2026, 5, 31, 8, tzinfo=UTC)
    found = []
    for _ in MONTHS:
        moment = next_after("P1M", None, moment, anchor=anchor)  # type: ignore[assignment]
        found.append(f"{moment:%Y-%m-%d}")
    assert found == MONTHS

    chained = next_after("P1M", None, datetime(2026, 6, 30, 8, tzinfo=UTC))
    assert chained == datetime(2026, 7, 30, 8, tzinfo=UTC)  # where the last one is all that is known


def test_leap_day_recurs_every_four_years() -> None:
    anchor = datetime(2024, 2, 29, tzinfo=UTC)
    assert next_after("P1Y", None, anchor, anchor=anchor) == datetime(2025, 2, 28, tzinfo=UTC)
    assert next_after("P1Y", None, datetime(2027, 3, 1, tzinfo=UTC), anchor=anchor) == anchor.replace(
        year=2028
    )


@pytest.mark.parametrize(
    ("every", "wanted"),
    [
        ("0 8 * * mon", "2026-01-05T08:00:00"),
        ("0 8 * * 7", "2026-01-04T08:00:00"),
        ("30 0 12 1 2 *", "2026-02-01T12:00:30"),
        ("*/15 * * * * *", "2026-01-01T00:00:15"),
        ("0 0 L * *", "2026-01-31T00:00:00"),
        ("0 9 * * mon#2", "2026-01-12T09:00:00"),
        ("0 0 29 2 *", "2028-02-29T00:00:00"),
        ("0 0 1,15 * mon", "2026-01-05T00:00:00"),  # either, as Debian's cron has it
        ("@hourly", "2026-01-01T01:00:00"),
        ("@daily", "2026-01-02T00:00:00"),
        ("@midnight", "2026-01-02T00:00:00"),
        ("@weekly", "2026-01-04T00:00:00"),
        ("@monthly", "2026-02-01T00:00:00"),
        ("@yearly", "2027-01-01T00:00:00"),
        ("@annually", "2027-01-01T00:00:00"),
        ("PT90S", "2026-01-01T00:01:30"),
        ("P1DT12H", "2026-01-02T12:00:00"),
        ("P2W", "2026-01-15T00:00:00"),
    ],
)
def test_expression_is_recognised_as_recurring(every: str, wanted: str) -> None:
    moment = next_after(every, None, datetime(2026, 1, 1, tzinfo=UTC))

    assert moment == datetime.fromisoformat(f"{wanted}+00:00")
    check(every, "Europe/Berlin")


@pytest.mark.parametrize(
    "every",
    ["", "x", "* * * *", "60 * * * *", "0 0 30 2 *", "0 0 * * * * *", "@often", "@reboot", "P", "PT", "P0D", "PT0.5S",
     "P0.5D", "P1.5M", "-P1D", "P-1D", "P99999Y", "P9999999999D", "\0", "0 8 * * mon;", 5, None, b"@daily"],
)  # fmt: skip
def test_invalid_recurrence_is_rejected(every: object) -> None:
    with pytest.raises(InvalidJobError) as refused:
        check(every, None)

    assert refused.value.rule == "every_recurs"


@pytest.mark.parametrize(
    "zone", ["Mars/Olympus", "Europe", "../etc/passwd", "/etc/localtime", "a\0b", "europe berlin", 1]
)
def test_invalid_time_zone_is_rejected(zone: object) -> None:
    with pytest.raises(InvalidJobError) as refused:
        check("@daily", zone)

    assert refused.value.rule == "zone_is_known"


def test_recurrence_ends_with_the_calendar() -> None:
    assert next_after("P9000Y", None, datetime(2026, 1, 1, tzinfo=UTC)) is None
    assert next_after("@daily", "Asia/Kolkata", datetime(9999, 12, 31, 23, tzinfo=UTC)) is None


def test_microseconds_do_not_repeat_an_occurrence() -> None:
    just_before = datetime(2026, 1, 1, 7, 59, 59, 999_999, tzinfo=UTC)
    eight = datetime(2026, 1, 1, 8, tzinfo=UTC)

    for zone in (None, "Europe/London"):
        assert next_after("0 8 * * *", zone, just_before) == eight
        assert next_after("0 8 * * *", zone, eight) == eight + DAY
        assert next_after("0 8 * * *", zone, eight + timedelta(microseconds=1)) == eight + DAY
        assert next_after("* * * * *", zone, just_before) == eight
