"""The files of a load: list them in order, check their columns, and split them into pieces for tasks."""

import csv
import fnmatch
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from minutehand.model.parse_job import FIELDS
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.load.parquet import accepts_type, expected_types

FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
}
# Bytes of text that a task reads.
PIECE = 32 << 20
# Bytes that are read at once to count lines.
BUFFER = 8 << 20
BOM = b"\xef\xbb\xbf"

# The options of a row, and so the columns of a run's table. Every other option needs a decision per job.
LOADED = (
    "kind",
    "payload",
    "queue",
    "key",
    "run_at",
    "delay",
    "priority",
    "max_attempts",
    "retry",
    "timeout",
    "headers",
    "personal",
    "tenant",
)
UNSUPPORTED = tuple(name for name in FIELDS if name not in LOADED)


@dataclass(frozen=True)
class File:
    """A file by its URI or path, with the size and the time that identify its version."""

    uri: str
    format: str
    size: int
    modified: str


@dataclass(frozen=True)
class Piece:
    """A part of a file: the bytes from `first` to `last`, or a row group of Parquet. `header` is that of CSV."""

    number: int
    file: File
    first: int
    last: int
    header: tuple[str, ...] = ()


Cut = tuple[File, int, int, tuple[str, ...]]


def list_files(paths: Sequence[str], format: str | None) -> list[File]:
    """Return the files of paths, each a file, a folder or a pattern; in the order of the paths, then by name."""
    found: dict[str, File] = {}
    for path in paths:
        filesystem, inside = open_filesystem(path)
        scheme = path[: path.index("://") + 3] if "://" in path else ""
        infos = sorted(_infos(filesystem, inside), key=lambda info: info.path)
        if not infos:
            raise InputError(f"no file matches {path}")
        for info in infos:
            file = File(scheme + info.path, format or _format(info.path), info.size, str(info.mtime_ns))
            found.setdefault(file.uri, file)
    return list(found.values())


def identity(files: Iterable[File], *terms: object) -> str:
    """Return the name of an unnamed load, from its files' names, sizes and times and its terms."""
    text = repr([(file.uri, file.size, file.modified) for file in files] + list(terms))
    return f"files-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def split_files(files: Sequence[File], kind: str | None = None) -> list[Piece]:
    """Return the pieces of all files, in order.

    `kind` applies to rows that have none. Raises InputError, before any row is read, for a file with an unknown column,
    for an incomplete Parquet file, and for a Parquet or CSV file that this process may not read.
    """
    cut = [piece for file in files for piece in _cut(file, kind)]
    return [Piece(number, *rest) for number, rest in enumerate(cut)]


def open_filesystem(uri: str) -> tuple[fs.FileSystem, str]:
    """Return a file system and the path in it. Credentials, region and endpoint come from the environment."""
    if "://" not in uri:
        return fs.LocalFileSystem(), str(Path(uri).absolute())
    plain = re.match(r"[^*\[]*", uri)[0].rpartition("/")[0] if re.search(r"[*\[]", uri) else uri  # type: ignore[index]
    try:
        filesystem, inside = fs.FileSystem.from_uri(plain)
    except (ValueError, OSError) as error:
        raise InputError(f"{uri} cannot be opened: {str(error).splitlines()[0]}") from None
    return filesystem, inside.rstrip("/") + uri[len(plain) :].rstrip("/")


def _infos(filesystem: fs.FileSystem, path: str) -> Iterator[fs.FileInfo]:
    # A path that exists is not a pattern, even if it is called jobs[1].csv.
    info = filesystem.get_file_info(path)
    if info.type == fs.FileType.File:
        yield info
    elif info.type == fs.FileType.Directory:
        yield from (each for each in _within(filesystem, path) if not _hidden(each.path[len(path) :]))
    if info.type != fs.FileType.NotFound or not re.search(r"[*\[]", path):
        return
    parent = re.split(r"[*\[]", path, maxsplit=1)[0].rpartition("/")[0]
    for each in _within(filesystem, parent):
        if fnmatch.fnmatchcase(each.path, path) and each.path.count("/") == path.count("/"):
            yield each


def _within(filesystem: fs.FileSystem, folder: str) -> Iterator[fs.FileInfo]:
    selector = fs.FileSelector(folder, recursive=True, allow_not_found=True)
    return (info for info in filesystem.get_file_info(selector) if info.type == fs.FileType.File)


def _hidden(path: str) -> bool:
    """Whether a path has a part such as _SUCCESS or .crc, which writers add to their data."""
    return any(part.startswith(("_", ".")) for part in path.split("/"))


def _format(path: str) -> str:
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise InputError(
            f"cannot tell the format of {path} from its suffix; pass --format parquet, csv or ndjson"
        )
    return FORMATS[ending]


def check_names(file: File, names: Sequence[str], kind: str | None) -> None:
    """Raise InputError for columns that are not fields of a job."""
    for name in names:
        if name in UNSUPPORTED:
            raise InputError(
                f"{file.uri}: a load does not support the field {name!r}; use minutehand enqueue --file"
            )
        if name not in LOADED:
            raise InputError(f"{file.uri}: unknown field {name[:80]!r}; expected some of {', '.join(LOADED)}")
    if "kind" not in names and kind is None:
        raise InputError(f"{file.uri} must have a column named kind; or set --kind for all rows")
    if len(set(names)) < len(names):
        raise InputError(f"{file.uri} must not have two columns with the same name")


def _cut(file: File, kind: str | None) -> Iterator[Cut]:
    try:
        yield from _CUTS[file.format](file, kind)
    except PermissionError:
        raise InputError(f"{file.uri} cannot be read: permission denied") from None


def _cut_ndjson(file: File, _kind: str | None) -> Iterator[Cut]:
    return _cut_text(file, 0, ())


def _cut_text(file: File, begin: int, header: tuple[str, ...]) -> Iterator[Cut]:
    for first in range(begin, file.size, PIECE):
        yield file, first, min(first + PIECE, file.size), header


def _cut_csv(file: File, kind: str | None) -> Iterator[Cut]:
    if file.size == 0:
        return
    filesystem, path = open_filesystem(file.uri)
    with filesystem.open_input_file(path) as opened:
        line = io.BufferedReader(opened).readline()
    try:
        names = next(csv.reader([line.removeprefix(BOM).decode()], strict=True), [])
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{file.uri}: cannot read the header: {error}") from None
    header = tuple(name.strip() for name in names)
    check_names(file, header, kind)
    yield from _cut_text(file, len(line), header)


def _cut_parquet(file: File, kind: str | None) -> Iterator[Cut]:
    filesystem, path = open_filesystem(file.uri)
    try:
        with filesystem.open_input_file(path) as opened:
            parquet = pq.ParquetFile(opened)
            schema, groups = parquet.schema_arrow, parquet.metadata.num_row_groups
    except PermissionError:
        raise
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(
            f"{file.uri} is not a complete Parquet file ({str(error).splitlines()[0][:120]}): "
            "write it again or leave it out"
        ) from None
    check_names(file, schema.names, kind)
    for field in schema:
        if not accepts_type(field.name, field.type):
            raise InputError(
                f"{file.uri}: {field.name} has the unsupported type {field.type}; "
                f"expected {expected_types(field.name)}"
            )
    for group in range(groups):
        yield file, group, group + 1, ()


_CUTS: dict[str, Callable[[File, str | None], Iterator[Cut]]] = {
    "parquet": _cut_parquet,
    "csv": _cut_csv,
    "ndjson": _cut_ndjson,
}


def lines_before(piece: Piece) -> int:
    """Return the number of lines, or of Parquet rows, in a file before a piece."""
    filesystem, path = open_filesystem(piece.file.uri)
    if piece.first == 0:
        return 0
    with filesystem.open_input_file(path) as opened:
        if piece.file.format == "parquet":
            metadata = pq.ParquetFile(opened).metadata
            return sum(metadata.row_group(group).num_rows for group in range(piece.first))
        return 1 + sum(part.count(b"\n") for part in _parts(opened, piece.first - 1))


def _parts(opened: Any, size: int) -> Iterator[bytes]:
    while size > 0 and (part := opened.read(min(size, BUFFER))):
        size -= len(part)
        yield part
