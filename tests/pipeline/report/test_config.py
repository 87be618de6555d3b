"""Invalid parameters of a report are rejected. These tests run without Spark."""

from datetime import date
from pathlib import Path

import pytest

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.report.config import ReportConfig, ReportResult, read_prices
from minutehand_pipeline.report.folder import check_folder
from minutehand_pipeline.report.window import choose_window


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "expected an object"),
        ('{"gold": 1}', "expected an object"),
        ('{"request": -1}', "of 0 or more"),
        ('{"request": "1"}', "must be a number"),
        ("{", "Expecting"),
        ('{"dated": "soon"}', "Invalid"),
        ('{"gb_second": {"arm64": "much"}}', "gb_second of arm64 must be a number"),
        ('{"gb_second": {"arm64": NaN}}', "gb_second of arm64 must be a number"),
        ('{"gb_second": {"arm64": -1}}', "gb_second of arm64 must be a number"),
        ('{"gb_second": {"z80": 1}}', "some of arm64, x86_64"),
        ('{"gb_second": 5}', "gb_second must be an object"),
        ('{"request": 1e400}', "request must be a number"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_invalid_prices_are_rejected(text: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text(text)

    with pytest.raises(InputError, match=why):
        read_prices(tmp_path / "prices.json")


def test_invalid_report_config_is_rejected() -> None:
    for options in (
        {"target": 1.0},
        {"objective": 0.0},
        {"since": date(2026, 3, 2), "until": date(2026, 3, 1)},
        {"architecture": "mips"},
        {"until": date(1, 1, 5)},
        {"since": date(1, 1, 5)},
    ):
        with pytest.raises(InputError):
            ReportConfig(lake="lake", **options)  # type: ignore[arg-type]


def test_window_longer_than_ten_years_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at most"):
        choose_window(ReportConfig(lake=str(tmp_path), since=date(1990, 1, 1), until=date(2026, 1, 1)))


@pytest.mark.parametrize(
    ("folder", "why"),
    [
        ("afile/x", "afile is a file"),
        ("afile/x/y", "afile is a file"),
        ("/proc/nope", "/proc"),
        ("/proc/no/such", "/proc"),
        ("x" * 300, "cannot write"),
        ("new/deep/er", None),
    ],
)
def test_unwritable_folder_is_rejected_at_once(folder: str, why: str | None, tmp_path: Path) -> None:
    (tmp_path / "afile").touch()

    if why is None:
        check_folder(tmp_path / folder)
    else:
        with pytest.raises(InputError, match=why):
            check_folder(tmp_path / folder)

    assert [each.name for each in tmp_path.iterdir()] == ["afile"]


def test_result_says_how_many_days_were_read() -> None:
    assert ReportResult("", {}, {}, 28, 28).reading == "28 of 28 days"
    assert (
        ReportResult("", {}, {}, 28, 1).reading
        == "1 of 28 days; the others were summarized by earlier reports"
    )
