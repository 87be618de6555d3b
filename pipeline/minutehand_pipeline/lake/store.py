"""Plain files in an object store, such as a report or rejected rows."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import FileSelector, FileType, PyFileSystem

from minutehand_pipeline.lake.delta import translated_errors
from minutehand_pipeline.lake.lake import Lake
from minutehand_pipeline.lake.whole_files import write_file


@dataclass(frozen=True)
class Store:
    """An address such as s3://bucket/report, with the same credentials as the lake. Methods raise LakeError."""

    address: str

    @cached_property
    def _files(self) -> PyFileSystem:
        with translated_errors(self.address):
            return PyFileSystem(DeltaStorageHandler(self.address, Lake(self.address).options))

    def names(self) -> list[str]:
        """Return the names of all files below the address."""
        with translated_errors(self.address):
            found = self._files.get_file_info(FileSelector("", recursive=True, allow_not_found=True))
        return sorted(each.path for each in found if each.type == FileType.File)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with translated_errors(self.address), self._files.open_input_file(name) as opened:
            return bytes(opened.read())

    def write(self, name: str, content: bytes) -> None:
        """Write a file, replacing one of the same name."""
        with translated_errors(self.address):
            write_file(self._files, name, content)

    def upload(self, folder: Path, last: str) -> None:
        """Upload all files of a folder, replacing earlier ones.

        The file named `last` is deleted first and uploaded last, so its presence proves that the others belong to it.
        """
        if last in self.names():
            with translated_errors(self.address):
                self._files.delete_file(last)
        files = [path for path in folder.rglob("*") if path.is_file()]
        for path in sorted(files, key=lambda path: (path.name == last, path)):
            self.write(path.relative_to(folder).as_posix(), path.read_bytes())
