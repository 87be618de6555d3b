"""Where a command writes its results: a local folder or file, or an address such as s3://bucket/report.

On a cluster the driver's disk is deleted with the job, so results go to an address.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from minutehand_pipeline.errors import InputError


def is_address(path: str) -> bool:
    """Whether it is an address of an object store rather than a local path."""
    return "://" in path


@contextmanager
def output_folder(path: str | None, mark: str, content: Collection[str] = ()) -> Iterator[Path | None]:
    """Yield the folder to write to, if there is one. For an address, upload it on success, the file `mark` last.

    Raises InputError, before anything is written, for a file, and for an address that has no `mark`, but files other
    than `content`, the files and folders of an upload that was interrupted.
    """
    if path is None or not is_address(path):
        if path is not None and Path(path).is_file():
            raise InputError(f"--out must be a folder, but {path} is a file")
        yield None if path is None else Path(path)
        return
    from minutehand_pipeline.lake.store import Store

    store = Store(path.rstrip("/"))
    names = store.names()
    if mark not in names and not {name.partition("/")[0] for name in names} <= set(content):
        raise InputError(f"{path} has files but no {mark} of an earlier run: pass another --out")
    with TemporaryDirectory(prefix="minutehand-") as scratch:
        folder = Path(scratch, "out")
        yield folder
        if folder.exists():
            store.upload(folder, last=mark)


@contextmanager
def output_file(path: str) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Yield the file to write to, and a function to call when it is complete: for an address, that uploads it.

    Without that call, the file is uploaded at the end if it was written, even after an error. Raises InputError for a
    folder, and LakeError for an unreachable address, before anything is written.
    """
    if not is_address(path):
        if Path(path).is_dir():
            raise InputError(f"--rejects must be a file, but {path} is a folder")
        yield Path(path), lambda: None
        return
    from minutehand_pipeline.lake.store import Store

    # Raises LakeError if the bucket is not reachable.
    Store(path).names()
    folder, _, name = path.rpartition("/")
    with TemporaryDirectory(prefix="minutehand-") as scratch:
        file, called = Path(scratch, name), False

        def upload() -> None:
            nonlocal called
            called = True
            if file.exists():
                Store(folder).write(name, file.read_bytes())

        try:
            yield file, upload
        finally:
            if not called:
                upload()
