"""UTC days as options of commands. These tests run without Spark."""

import pytest
from click.testing import CliRunner

from minutehand_pipeline.cli.archive import archive


@pytest.mark.parametrize("day", ["2026-02-30", "yesterday", "2026-3", "10000-01-01"])
def test_invalid_day_is_rejected_with_an_example(day: str) -> None:
    result = CliRunner().invoke(archive, ["lake", "--day", day])

    assert result.exit_code == 2
    assert f"expected an existing day such as 2026-03-31, got {day!r}" in " ".join(result.output.split())
