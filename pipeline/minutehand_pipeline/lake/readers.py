"""Marks of running readers, so that an erasure does not delete the files that they are reading.

A reader writes a mark to the lake's folder `_readers` before it lists files, and removes it at the end. The mark of a
reader that was killed counts until it is MAX_AGE old.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import FileSelector, FileType, PyFileSystem

from minutehand_pipeline.errors import LakeError
from minutehand_pipeline.lake.delta import translated_errors
from minutehand_pipeline.lake.lake import Lake
from minutehand_pipeline.lake.whole_files import write_file

LOG = logging.getLogger("minutehand_pipeline")

FOLDER = "_readers"
MAX_AGE = timedelta(hours=6)


@contextmanager
def marked_reader(lake: Lake) -> Iterator[None]:
    """Mark this process as a reader. Without permission to write to the lake it reads without a mark."""
    name = str(uuid4())
    try:
        _write(lake, name)
    except LakeError as error:
        LOG.warning("cannot mark the lake as being read, so an erasure may stop this run: %s", error)
        yield
        return
    try:
        yield
    finally:
        _delete(lake, name)


def count_readers(lake: Lake) -> int:
    """Return how many readers are running, after removing the marks of those that were killed long ago."""
    oldest, running = datetime.now(UTC) - MAX_AGE, 0
    with translated_errors(lake.path):
        found = _filesystem(lake).get_file_info(FileSelector(FOLDER, allow_not_found=True))
    for mark in found:
        if mark.type == FileType.File and mark.mtime >= oldest:
            running += 1
        elif mark.type == FileType.File:
            _delete(lake, mark.base_name)
    return running


def _write(lake: Lake, name: str) -> None:
    with translated_errors(lake.path):
        filesystem = _filesystem(lake)
        filesystem.create_dir(FOLDER)
        write_file(filesystem, f"{FOLDER}/{name}", b"reader")


def _delete(lake: Lake, name: str) -> None:
    try:
        with translated_errors(lake.path):
            _filesystem(lake).delete_file(f"{FOLDER}/{name}")
    except LakeError as error:
        LOG.warning("cannot remove the mark of a reader: %s", error)


def _filesystem(lake: Lake) -> PyFileSystem:
    if lake.local:
        Path(lake.path).mkdir(parents=True, exist_ok=True)
    return PyFileSystem(DeltaStorageHandler(lake.path, lake.options))
