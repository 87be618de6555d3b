"""Values of options: durations, times, time zones and JSON. These tests need no database."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import click
import pytest

from minutehand.cli import text
from minutehand.cli.values import duration, option_time, parse_json, read_duration, read_time
from minutehand.cli.values import zone as read_zone

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [
        ("90s", 90),
        ("10m", 600),
        ("2h30m", 9000),
        ("2h 30m", 9000),
        ("3d", 259200),
        ("1d12h", 129600),
        ("0s", 0),
        ("0.5s", 0.5),
        ("PT10M", 600),
        ("P3D", 259200),
        ("pt5m", 300),
        ("P1DT2H", 93600),
    ],
)
def test_duration_is_read_in_short_form_and_iso_8601(typed, seconds):
    assert read_duration(typed) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "typed",
    ["", "10", "m", "10x", "1y", "P1Y", "P1M", "NaN", "1e9s", "9" * 30 + "d", "٣s", "1;2", "\0", "\udcff"],
)
def test_invalid_duration_is_rejected_with_examples(typed):
    with pytest.raises(ValueError, match="write 90s, 10m, 2h30m, 3d"):
        read_duration(typed)


def test_negative_duration_is_rejected():
    with pytest.raises(click.BadParameter):
        duration("-PT5M")


def test_time_requires_an_offset_or_a_zone():
    assert read_time("2026-03-01T08:00Z") == datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert read_time("2026-03-01T08:00+01:00") == datetime(2026, 3, 1, 7, tzinfo=UTC)
    assert read_time("2026-03-01T08:00", BERLIN) == datetime(2026, 3, 1, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        ("2026-03-01T08:00", "2026-03-01T08:00Z"),
        ("2026-03-01 08", "2026-03-01 08Z"),
        ("2026-03-01", "2026-03-01T00:00Z"),
        ("20260301", "2026-03-01T00:00Z"),
        ("2026-W09-7", "2026-03-01T00:00Z"),
    ],
)
def test_time_without_an_offset_is_suggested_with_one(typed, suggested):
    with pytest.raises(ValueError, match=f"has no offset; add one, such as {suggested}, or"):
        read_time(typed)
    assert read_time(suggested) == read_time(typed, ZoneInfo("UTC"))


def test_time_skipped_or_repeated_by_dst_is_rejected():
    with pytest.raises(ValueError, match="does not exist in Europe/Berlin"):
        read_time("2027-03-28T02:30", BERLIN)
    with pytest.raises(ValueError, match="is ambiguous in Europe/Berlin"):
        read_time("2027-10-31T02:30", BERLIN)


@pytest.mark.parametrize("name", ["Nowhere", "../../etc/passwd", "/etc/passwd", "Europe", "", "\0"])
def test_unknown_time_zone_is_rejected(name):
    with pytest.raises(click.BadParameter, match="must be an IANA time zone"):
        read_zone(name)


@pytest.mark.parametrize("typed", ["tomorrow", "2026-13-01", "'; drop table jobs", "", "\0", "08:00"])
def test_invalid_time_is_rejected(typed):
    with pytest.raises(click.BadParameter, match="is not a time"):
        option_time(typed, "UTC", "--at")


@pytest.mark.parametrize("typed", ["NaN", "[Infinity]", "{", "'a'", "[" * 100_000, "1" * 5000])
def test_invalid_json_is_rejected(typed):
    with pytest.raises(ValueError, match=r".+"):
        parse_json(typed)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "a moment"),
        (2, "2 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (3600, "1 h"),
        (9000, "2 h 30 min"),
        (86400 * 3 + 7200, "3 d 2 h"),
        (86400 * 800, "2 y 70 d"),
        (-90, "1 min 30 s"),
    ],
)
def test_span_has_its_two_largest_units(seconds, words):
    assert text.span(timedelta(seconds=seconds)) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.0123, "12 ms"), (0.9996, "1 s"), (1.2, "1 s"), (90, "1 min 30 s")]
)
def test_short_duration_is_in_milliseconds(seconds, words):
    assert text.took(timedelta(seconds=seconds)) == words


def test_text_is_escaped_for_the_terminal():
    assert text.safe("a\x1b[31m\u202eb\n\x9b\udcff ü") == "a\\x1b[31m\\u202eb\\n\\x9b\\udcff ü"


@pytest.mark.parametrize(
    "arguments", [("batches", "ls"), ("schedules", "show", "a"), ("schedules", "preview", "P1D")]
)
def test_limit_of_a_list_is_a_bounded_option(execute, arguments):
    ended = execute(*arguments, "-n", "0")

    assert ended.returncode == 2
    assert b"0 is not in the range 1<=x<=1000" in ended.stderr
