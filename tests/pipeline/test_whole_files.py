"""Files of any size are written to the lake."""

from pathlib import Path

import pytest
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import PyFileSystem

from minutehand_pipeline.lake.whole_files import BUFFER, write_file


@pytest.mark.parametrize("size", [0, 1, BUFFER // 2, BUFFER, 3 * BUFFER + 1])
def test_file_of_any_size_is_written(tmp_path: Path, size: int) -> None:
    content = bytes(range(256)) * (size // 256) + bytes(size % 256)

    write_file(PyFileSystem(DeltaStorageHandler(str(tmp_path))), "file", content)

    assert (tmp_path / "file").read_bytes() == content
