"""Plain files at an address of an object store, beside the lake's tables: what a verb leaves there for people."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import FileSelector, FileType, PyFileSystem

from minutehand_pipeline.lake import Lake
from minutehand_pipeline.lake.delta import told

BUFFER = 1 << 20  # bytes


@dataclass(frozen=True)
class Store:
    """An address such as s3://bucket/report, where whoever may write says so as for the lake. Raises LakeError."""

    address: str

    @cached_property
    def _files(self) -> PyFileSystem:
        with told(self.address):
            return PyFileSystem(DeltaStorageHandler(self.address, Lake(self.address).options))

    def names(self) -> list[str]:
        """Return the names of all files below the address."""
        with told(self.address):
            found = self._files.get_file_info(FileSelector("", recursive=True, allow_not_found=True))
        return sorted(each.path for each in found if each.type == FileType.File)

    def read(self, name: str) -> bytes:
        """Return what is in a file."""
        with told(self.address), self._files.open_input_file(name) as opened:
            return bytes(opened.read())

    def write(self, name: str, content: bytes) -> None:
        """Write a file, in the place of one that is there."""
        # Buffered, or pyarrow would hand delta-rs a buffer of its own kind, which that does not take.
        with told(self.address), self._files.open_output_stream(name, buffer_size=BUFFER) as opened:
            opened.write(content)

    def upload(self, folder: Path, last: str) -> None:
        """Write all files of a folder; who finds the one that is named `last` finds the others, too."""
        files = [path for path in folder.rglob("*") if path.is_file()]
        for path in sorted(files, key=lambda path: (path.name == last, path)):
            self.write(path.relative_to(folder).as_posix(), path.read_bytes())
