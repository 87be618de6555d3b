"""Summaries of the lake's days, which reports store in the lake's folder `_report` and use again.

A summary's name has its day and a digest of the files that it was made from, so it is found as long as these are the
day's files. Summaries are made again at any time; they hold no data of their own.
"""

import io
import zipfile
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import FileSelector, FileType, PyFileSystem

from minutehand_pipeline.lake.delta import DataFile, translated_errors
from minutehand_pipeline.lake.lake import Lake
from minutehand_pipeline.lake.whole_files import write_file
from minutehand_pipeline.schemas import HOMES

FOLDER = "_report"
SUFFIX = ".zip"
# Days before the one on which a job ended in which its first attempt is looked up.
LOOK_BACK = 7
# Files that are read at the same time.
AT_ONCE = 16

Tables = Mapping[str, pa.Table]


@dataclass(frozen=True)
class Summaries:
    """The summaries of one definition. Another definition is another folder."""

    lake: Lake
    definition: str

    def read(self, names: Iterable[str]) -> dict[str, Tables]:
        """Return the summaries of these names that exist. One that was not written completely is left out.

        So is one that another report or an erasure deletes meanwhile.
        """
        wanted = sorted(set(names) & set(self.names()))
        with translated_errors(self.lake.path), ThreadPoolExecutor(AT_ONCE) as pool:
            found = zip(wanted, pool.map(self._read, wanted), strict=True)
            return {name: tables for name, tables in found if tables is not None}

    def write(self, name: str, tables: Tables) -> None:
        """Store a summary. Raises LakeError if the lake is read-only."""
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w") as archive:
            for table in tables:
                archive.writestr(f"{table}.arrow", _to_bytes(tables[table]))
        with translated_errors(self.lake.path):
            filesystem = _filesystem(self.lake)
            filesystem.create_dir(f"{FOLDER}/{self.definition}")
            write_file(filesystem, self._path(name), content.getvalue())

    def names(self) -> list[str]:
        """Return the names of all summaries."""
        return [name for definition, name in _stored(self.lake) if definition == self.definition]

    def delete(self, names: Iterable[str]) -> None:
        """Delete summaries, if nothing else has deleted them. Raises LakeError if the lake is read-only."""
        with translated_errors(self.lake.path):
            for name in names:
                with suppress(FileNotFoundError):
                    _filesystem(self.lake).delete_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{FOLDER}/{self.definition}/{name}{SUFFIX}"

    def _read(self, name: str) -> Tables | None:
        try:
            with _filesystem(self.lake).open_input_file(self._path(name)) as opened:
                content = io.BytesIO(opened.read())
            with zipfile.ZipFile(content) as archive:
                return {
                    Path(member).stem: pa.ipc.open_file(archive.read(member)).read_all()
                    for member in archive.namelist()
                }
        except (FileNotFoundError, zipfile.BadZipFile, pa.ArrowInvalid):
            return None


def day_names(lake: Lake, since: date | None = None, until: date | None = None) -> dict[date, str]:
    """Return the names that the summaries of the days that have files have now.

    A name changes with the day's files, and with those of the attempts of the week before, in which the first
    attempts of the day's jobs may have ended.
    """
    first = since and since - timedelta(days=LOOK_BACK)
    jobs, attempts = (
        _paths(lake.table(HOMES[home]).files(begin, until))
        for home, begin in (("jobs_done", since), ("attempts", first))
    )
    days = sorted(day for day in jobs | attempts if since is None or day >= since)
    names = {}
    for day in days:
        near = (day - timedelta(days=n) for n in range(LOOK_BACK + 1))
        paths = [*jobs.get(day, []), *(path for each in near for path in attempts.get(each, []))]
        names[day] = f"{day.isoformat()}-{digest(*sorted(paths))}"
    return names


def delete_outdated(lake: Lake) -> int:
    """Delete the summaries of days whose files have changed, and everything that is not of a day; return how many.

    An erasure calls this, so that no summary has what was erased.
    """
    current, deleted = set(day_names(lake).values()), 0
    for definition, name in _stored(lake):
        if name not in current:
            Summaries(lake, definition).delete([name])
            deleted += 1
    return deleted


def digest(*texts: str) -> str:
    """Return a short digest of texts."""
    return sha256("\n".join(texts).encode()).hexdigest()[:16]


def _paths(files: Iterable[DataFile]) -> dict[date, list[str]]:
    found: dict[date, list[str]] = {}
    for file in files:
        found.setdefault(file.day, []).append(file.path)
    return found


def _stored(lake: Lake) -> list[tuple[str, str]]:
    """Return the definition and the name of each summary."""
    with translated_errors(lake.path):
        found = _filesystem(lake).get_file_info(FileSelector(FOLDER, recursive=True, allow_not_found=True))
    paths = [Path(each.path) for each in found if each.type == FileType.File]
    return [(path.parent.name, path.stem) for path in paths if path.suffix == SUFFIX]


def _to_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _filesystem(lake: Lake) -> PyFileSystem:
    if lake.local:
        Path(lake.path).mkdir(parents=True, exist_ok=True)
    return PyFileSystem(DeltaStorageHandler(lake.path, lake.options))
