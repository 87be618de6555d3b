"""The layer has every time zone; Lambda's runtime has none."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

FOUND = """
import sys, zoneinfo
from datetime import datetime, UTC
zoneinfo.reset_tzpath([])
names = sorted(zoneinfo.available_timezones())
assert len(names) > 590, len(names)
for name in names:
    zoneinfo.ZoneInfo(name)
from minutehand.errors import InvalidJobError
from minutehand.model.recurrence import check, next_after
print(next_after("0 8 * * mon", "Europe/Berlin", datetime(2026, 3, 28, tzinfo=UTC)))
print(next_after("P1D", "Australia/Lord_Howe", datetime(2026, 3, 28, tzinfo=UTC)))
for wrong in ("Mars/Olympus", "Europe", "Europe/Atlantis", "a\\0b"):
    try:
        check("@daily", wrong)
    except InvalidJobError as error:
        assert error.rule == "zone_is_known"
    else:
        raise AssertionError(wrong)
"""


@pytest.mark.slow
def test_every_time_zone_is_in_the_layer(
    compiled: Callable[[str], Path],
) -> None:
    layer, library = compiled("DependenciesX86Layer"), compiled("LibraryLayer")
    done = subprocess.run(
        [sys.executable, "-S", "-c", FOUND],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{library}:{layer}", "PYTHONDONTWRITEBYTECODE": "1"},
    )

    assert done.stdout.splitlines() == ["2026-03-30 06:00:00+00:00", "2026-03-29 00:00:00+00:00"], done.stderr
    assert not (layer / "tzdata" / "zoneinfo").exists()
    assert {info.date_time[0] for info in ZipFile(layer / "tzdata" / "zones.zip").infolist()} == {1980}
