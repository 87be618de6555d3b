"""The files of a load: which they are, in which order, what each has to be, and the pieces in which tasks read them."""

import csv
import fnmatch
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from minutehand.model.parse_job import FIELDS
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.load.columns import fitting

FORMATS = {
    ".parquet": "parquet", ".csv": "csv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "ndjson",
}  # fmt: skip
PIECE = 32 << 20  # bytes of text that a task reads
BOM = b"\xef\xbb\xbf"

# What asks for more than a place among the upcoming jobs is put_keyed's to decide, one job after the other.
NOT_HERE = (
    "every",
    "zone",
    "on_conflict",
    "unique_while",
    "unique_for",
    "debounce",
    "debounce_max",
    "throttle",
)
LOADED = tuple(name for name in FIELDS if name not in NOT_HERE)


@dataclass(frozen=True)
class File:
    """A file, by its URI or path, with what tells it from another one of that name."""

    uri: str
    format: str
    size: int
    changed: str


@dataclass(frozen=True)
class Piece:
    """A part of a file: its bytes from `first` to `last`, or that row group of Parquet; CSV has its header along."""

    number: int
    file: File
    first: int
    last: int
    header: tuple[str, ...] = ()


Cut = tuple[File, int, int, tuple[str, ...]]


def list_files(paths: Sequence[str], format: str | None) -> list[File]:
    """Return the files that paths name, each a file, a folder or a pattern; in the order of the paths, then by name."""
    found: dict[str, File] = {}
    for path in paths:
        filesystem, inside = open_filesystem(path)
        scheme = path[: path.index("://") + 3] if "://" in path else ""
        infos = sorted(_infos(filesystem, inside), key=lambda info: info.path)
        if not infos:
            raise InputError(f"{path} names no file")
        for info in infos:
            file = File(scheme + info.path, format or _format(info.path), info.size, str(info.mtime_ns))
            found.setdefault(file.uri, file)
    return list(found.values())


def identity(files: Iterable[File], *terms: object) -> str:
    """Return what a load is called that nobody named: by its files' names, sizes and times, and its terms."""
    said = repr([(file.uri, file.size, file.changed) for file in files] + list(terms))
    return f"files-{hashlib.sha256(said.encode()).hexdigest()[:32]}"


def pieces(files: Sequence[File], kind: str | None = None) -> list[Piece]:
    """Return the pieces of all files in their order; raise InputError for a file that cannot be a load's at all.

    That is before any row is read: an unknown column, a Parquet file that is not whole. `kind` is of rows without one.
    """
    cut = [piece for file in files for piece in _CUTS[file.format](file, kind)]
    return [Piece(number, *rest) for number, rest in enumerate(cut)]


def open_filesystem(uri: str) -> tuple[fs.FileSystem, str]:
    """Return where a path is, and the path there; credentials, region and endpoint come from the environment."""
    if "://" not in uri:
        return fs.LocalFileSystem(), str(Path(uri).absolute())
    plain = re.match(r"[^*\[]*", uri)[0].rpartition("/")[0] if re.search(r"[*\[]", uri) else uri  # type: ignore[index]
    try:
        filesystem, inside = fs.FileSystem.from_uri(plain)
    except (ValueError, OSError) as error:
        raise InputError(f"{uri} cannot be opened: {str(error).splitlines()[0]}") from None
    return filesystem, inside.rstrip("/") + uri[len(plain) :].rstrip("/")


def _infos(filesystem: fs.FileSystem, path: str) -> Iterator[fs.FileInfo]:
    info = filesystem.get_file_info(path)  # what is called jobs[1].csv is that file, and no pattern
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
    """Whether a name is one that writers put beside their data, as _SUCCESS and .crc are."""
    return any(part.startswith(("_", ".")) for part in path.split("/"))


def _format(path: str) -> str:
    ending = Path(path).suffix.lower()
    if ending not in FORMATS:
        raise InputError(f"{path}: its ending tells no format; say --format parquet, csv or ndjson")
    return FORMATS[ending]


def check_names(file: File, names: Sequence[str], kind: str | None) -> None:
    """Refuse columns that are no fields of a job, before anything is read."""
    for name in names:
        if name in NOT_HERE:
            raise InputError(f"{file.uri}: a load has no field {name!r}; minutehand enqueue --file has")
        if name not in LOADED:
            raise InputError(f"{file.uri}: no field is called {name[:80]!r}; they are {', '.join(LOADED)}")
    if "kind" not in names and kind is None:
        raise InputError(f"{file.uri} has no column kind")
    if len(set(names)) < len(names):
        raise InputError(f"{file.uri} names a column twice")


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
        raise InputError(f"{file.uri}: the header cannot be read: {error}") from None
    header = tuple(name.strip() for name in names)
    check_names(file, header, kind)
    yield from _cut_text(file, len(line), header)


def _cut_parquet(file: File, kind: str | None) -> Iterator[Cut]:
    filesystem, path = open_filesystem(file.uri)
    try:
        with filesystem.open_input_file(path) as opened:
            parquet = pq.ParquetFile(opened)
            schema, groups = parquet.schema_arrow, parquet.metadata.num_row_groups
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(
            f"{file.uri} is no whole Parquet file ({str(error).splitlines()[0][:120]}): "
            "have it written again, or leave it out"
        ) from None
    check_names(file, schema.names, kind)
    for field in schema:
        if not fitting(field.name, field.type):
            raise InputError(
                f"{file.uri}: {field.name} is {field.type}, which cannot be read; JSON is a text of it"
            )
    for group in range(groups):
        yield file, group, group + 1, ()


_CUTS: dict[str, Callable[[File, str | None], Iterator[Cut]]] = {
    "parquet": _cut_parquet,
    "csv": _cut_csv,
    "ndjson": _cut_ndjson,
}
