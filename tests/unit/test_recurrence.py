"""Recurrences: supported expressions, invalid ones, months and leap days."""

from datetime import UTC, datetime, timedelta

import pytest

from minutehand.errors import InvalidJobError
from minutehand.model.recurrence import check, next_after
from tests.unit.clock_changes import DAY

MONTHS = ["2026-06-30", "2026-07-31", "2026-08-31", "2026-09-30", "2026-10-31", "2026-11-30", "2026-12-31"]


def test_months_are_counted_from_the_anchor() -> None:
    anchor = moment = datetime(2026, 5, 31, 8, tzinfo=UTC)
    found = []
    for _ in MONTHS:
        moment = next_after("P1M", None, moment, anchor=anchor)  # type: ignore[assignment]
        found.append(f"{moment:%Y-%m-%d}")
    assert found == MONTHS

    chained = next_after("P1M", None, datetime(2026, 6, 30, 8, tzinfo=UTC))
    assert chained == datetime(2026, 7, 30, 8, tzinfo=UTC)  # without an anchor


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
        ("0 0 1,15 * mon", "2026-01-05T00:00:00"),  # either field, as in Debian's cron
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
def test_expression_is_recognized_as_recurring(every: str, wanted: str) -> None:
    moment = next_after(every, None, datetime(2026, 1, 1, tzinfo=UTC))

    assert moment == datetime.fromisoformat(f"{wanted}+00:00")
    check(every, "Europe/Berlin")


@pytest.mark.parametrize(
    "every",
    [
        "",
        "x",
        "* * * *",
        "60 * * * *",
        "0 0 30 2 *",
        "0 0 * * * * *",
        "@often",
        "@reboot",
        "P",
        "PT",
        "P0D",
        "PT0.5S",
        "P0.5D",
        "P1.5M",
        "-P1D",
        "P-1D",
        "P99999Y",
        "P9999999999D",
        "\0",
        "0 8 * * mon;",
        5,
        None,
        b"@daily",
    ],
)
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


@pytest.mark.parametrize(
    ("every", "days"),
    [
        # Neither starts with a star: a day that matches either one matches.
        ("0 0 1,15 * mon", [1, 5, 12, 15, 19, 26]),
        ("0 0 1-7 * mon", [1, 2, 3, 4, 5, 6, 7, 12, 19, 26]),
        ("0 0 1-31/10 * mon", [1, 5, 11, 12, 19, 21, 26, 31]),
        # One starts with a star: a day must match both.
        ("0 0 */10 * mon", []),
        ("0 0 */2 * mon", [5, 19]),
        ("0 0 1-7 * */7", [4]),
        ("0 0 * * mon", [5, 12, 19, 26]),
        ("0 0 15 * *", [15]),
        ("0 0 * * mon#1", [5]),
    ],
)
def test_day_of_month_and_day_of_week_are_combined(every: str, days: list[int]) -> None:
    found, moment = [], next_after(every, None, datetime(2025, 12, 31, 12, tzinfo=UTC))
    while moment and moment < datetime(2026, 2, 1, tzinfo=UTC):
        found.append(moment.day)
        moment = next_after(every, None, moment)

    assert found == days
