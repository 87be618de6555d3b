"""Where a verb's results go: a folder or a file of this machine, or an address such as s3://bucket/report.

On a cluster the driver's own disk is gone with the job.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from minutehand_pipeline.errors import InputError


def is_address(said: str) -> bool:
    """Whether it is an object store's, and no path of this machine."""
    return "://" in said


@contextmanager
def folder_at(said: str | None, mark: str) -> Iterator[Path | None]:
    """Yield the folder to write, if one is said; at an address it is uploaded once it is whole, the file `mark` last.

    Raises InputError, before anything is written, for a file, and where an address has files and none of that name.
    """
    if said is None or not is_address(said):
        if said is not None and Path(said).is_file():
            raise InputError(f"{said} is a file: --out is a folder")
        yield None if said is None else Path(said)
        return
    from minutehand_pipeline.lake.store import Store

    store = Store(said.rstrip("/"))
    names = store.names()
    if names and mark not in names:
        raise InputError(f"{said} has files, and no {mark} from before: say another --out")
    with TemporaryDirectory(prefix="minutehand-") as beside:
        folder = Path(beside, "out")
        yield folder
        if folder.exists():
            store.upload(folder, last=mark)


@contextmanager
def file_at(said: str) -> Iterator[Path]:
    """Yield the file to write; at an address it is uploaded, also when what wrote it failed later.

    Raises InputError for a folder, and LakeError for an address that does not answer, before anything is written.
    """
    if not is_address(said):
        if Path(said).is_dir():
            raise InputError(f"{said} is a folder: --rejects is a file")
        yield Path(said)
        return
    from minutehand_pipeline.lake.store import Store

    Store(said).names()  # of what is below that name: nothing, but the bucket has to answer
    folder, _, name = said.rpartition("/")
    with TemporaryDirectory(prefix="minutehand-") as beside:
        file = Path(beside, name)
        try:
            yield file
        finally:
            if file.exists():
                Store(folder).write(name, file.read_bytes())
