"""Formatting of numbers. These tests run without Spark."""

import re
from datetime import date
from pathlib import Path

import pytest

from minutehand_pipeline.report import words
from minutehand_pipeline.report.page.scale import apart, durations, linear
from minutehand_pipeline.report.tables import TABLES

PAGE = Path(__file__).parent.parent.parent.parent / "docs" / "pipeline" / "report.md"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "\N{EN DASH}"),
        (0, "0 s"),
        (0.0123, "12.3 ms"),
        (0.9996, "1 s"),
        (4.24, "4.2 s"),
        (59.96, "60 s"),
        (119.6, "2 min"),
        (200, "3 min 20 s"),
        (7199.6, "2 h"),
        (90_000, "25 h"),
        (259_200, "3 days"),
    ],
)
def test_duration_has_a_suitable_unit(value: float | None, text: str) -> None:
    assert words.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "100 %"),
        (0.99999, "99.99 %"),
        (0.9904, "99.04 %"),
        (0.123, "12.3 %"),
        (0.0001, "< 0.1 %"),
        (0.0, "0 %"),
    ],
)
def test_share_is_never_rounded_up_to_100_percent(value: float, text: str) -> None:
    assert words.share(value) == text


def test_counts_and_money_have_separators_and_units() -> None:
    assert [words.short_count(n) for n in (0, 9999, 12_345, 1_234_567)] == ["0", "9,999", "12.3 k", "1.2 M"]
    assert words.short_count(1, "job") == "1 job" and words.count(1234, "job") == "1,234 jobs"
    assert [words.money(n, "$") for n in (0, 12.3, 0.5, 0.00123, 2.1e-6)] == [
        "$0.00",
        "$12.30",
        "$0.50",
        "$0.0012",
        "$0.0000021",
    ]
    assert words.money(-3, "EUR") == "\N{MINUS SIGN}3.00 EUR"


def test_span_names_first_and_last_day() -> None:
    assert words.span(date(2026, 3, 1), date(2026, 3, 28)) == "from 1 to 28 March 2026"
    assert words.span(date(2025, 12, 29), date(2026, 1, 4)) == "from 29 December 2025 to 4 January 2026"
    assert words.span(date(2026, 3, 1), date(2026, 3, 1)) == "on 1 March 2026"


def test_axes_cover_all_values_and_labels_keep_apart() -> None:
    assert linear([3.2]).high == 4 and linear([]).high == 1 and linear([100.0]).high == 100
    scale = durations([0.02, 61.0])
    assert (scale.low, scale.high) == (0.01, 600.0) and scale.place(600) == 0 and scale.place(0) == 100
    assert durations([]).low < durations([]).high and durations([9e9]).place(9e9) == 0
    assert apart([50.0, 51.0, 99.0, 100.0], 10) == [50.0, 60.0, 90.0, 100.0]


def test_documentation_names_every_table() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", PAGE.read_text().partition("| table |")[2], re.MULTILINE)

    assert sorted(re.findall(r"\w+", " ".join(rows))) == sorted(TABLES)
