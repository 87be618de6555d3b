"""An archive of the classes that Spark loads, with which a local session starts with about half the processor time.

The first session's Java writes the archive when it exits, after the command has ended. Later ones map it into memory.
Java ignores an archive of another version or class path. The technique is class data sharing (JEP 350, "Dynamic CDS
Archives").
"""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from time import time
from uuid import uuid4

from minutehand_pipeline.java import cache_folder

# Java writes the start of the file last.
COMPLETE = (0xF00BABA8).to_bytes(4, "little")
PREFIX, SUFFIX, UNFINISHED = "spark-", ".jsa", ".new"
# Seconds after which an archive that no session used, or that was not completed, is deleted.
UNUSED, ABANDONED = 60 * 86_400, 3600


def sharing_option(java: Path) -> str:
    """Return the option with which Java reads the archive, or writes it; empty if the cache is not writable.

    `java` is the program. An upgrade of Java or Spark has another archive.
    """
    archive = cache_folder() / f"{PREFIX}{_version(java)}{SUFFIX}"
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        _adopt(archive)
        _clean(archive.parent)
        if archive.exists():
            os.utime(archive)
            return f'"-XX:SharedArchiveFile={archive}"'
    except OSError:
        return ""
    return f'"-XX:ArchiveClassesAtExit={archive}.{uuid4().hex}{UNFINISHED}"'


def _version(java: Path) -> str:
    """Return a digest of Java and the jars. Java compares the times of the jars, too."""
    import pyspark

    program, jars = java.resolve(), Path(pyspark.__file__).parent / "jars"
    facts = (program, program.stat().st_mtime_ns, jars, jars.stat().st_mtime_ns)
    return sha256(repr(facts).encode()).hexdigest()[:16]


def _adopt(archive: Path) -> None:
    """Rename an archive that an earlier session has completed."""
    for new in archive.parent.glob(f"{archive.name}.*{UNFINISHED}"):
        with new.open("rb") as opened:
            is_complete = opened.read(len(COMPLETE)) == COMPLETE
        if is_complete:
            new.replace(archive)


def _clean(folder: Path) -> None:
    """Delete archives of former versions, and those whose Java was killed while it wrote them."""
    for file, age in _files(folder):
        if age > (ABANDONED if file.suffix == UNFINISHED else UNUSED):
            file.unlink(missing_ok=True)


def _files(folder: Path) -> Iterator[tuple[Path, float]]:
    """Yield the files of this module and their ages in seconds."""
    for file in folder.glob(f"{PREFIX}*{SUFFIX}*"):
        yield file, time() - file.stat().st_mtime
