"""A report that is killed leaves no folders for long."""

import errno
import fcntl
import os
from pathlib import Path

import pytest

from minutehand_pipeline.report.folder import write_folder
from tests.pipeline.report.test_page import result as result_of_a_page


def test_scratch_folders_of_killed_reports_are_removed(tmp_path: Path) -> None:
    killed, living, mine = (tmp_path / f".out.{name}" for name in ("abcdefgh", "bcdefghi", "cdefghij"))
    for folder in (killed, living, mine):
        folder.mkdir()
    (killed / "index.html").touch()
    (mine / "thesis.txt").touch()
    lock = os.open(living, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)

    write_folder(tmp_path / "out", result_of_a_page(), [0.0] * 24 * 28)

    os.close(lock)
    assert sorted(each.name for each in tmp_path.iterdir()) == [living.name, mine.name, "out"]


def test_report_is_written_to_a_file_system_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / ".out.abcdefgh").mkdir()

    write_folder(tmp_path / "out", result_of_a_page(), [0.0] * 24 * 28)

    # Another report may be using the temporary folder.
    assert sorted(each.name for each in tmp_path.iterdir()) == [".out.abcdefgh", "out"]
