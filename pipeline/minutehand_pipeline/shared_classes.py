"""An archive of the classes that Spark loads, with which a local session needs less processor time to start.

The first session's Java writes the archive when it exits, after the command has ended, which takes about 20 seconds of
processor time. Later ones map it into memory. Java ignores an archive of another version or class path. The technique
is class data sharing (JEP 350, "Dynamic CDS Archives").
"""

import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import time

from minutehand_pipeline.java import cache_folder

# Java writes the start of the file last.
COMPLETE = (0xF00BABA8).to_bytes(4, "little")
READ = '"-XX:SharedArchiveFile='
PREFIX, SUFFIX, UNFINISHED = "spark-", ".jsa", ".new"
# Seconds after which an archive that no session used, or that was not completed, is deleted.
UNUSED, ABANDONED = 60 * 86_400, 3600


def sharing_option(java: Path) -> str:
    """Return the option with which Java reads the archive, or writes it.

    It is empty if another session will write it, if the cache is not writable, or if the jars are not in the package.
    `java` is the program. An upgrade of Java or Spark has another archive.
    """
    try:
        archive = cache_folder() / f"{PREFIX}{_version(java)}{SUFFIX}"
        archive.parent.mkdir(parents=True, exist_ok=True)
        _adopt(archive)
        _clean(archive.parent)
        if archive.exists():
            os.utime(archive)
            return f'{READ}{archive}"'
        return _claim(archive)
    # RuntimeError if the user has no home.
    except (OSError, RuntimeError):
        return ""


def discard(option: str) -> None:
    """Delete the archive that the option reads: Java checks only its start, and ends if the rest is damaged."""
    if option.startswith(READ):
        Path(option.removeprefix(READ).rstrip('"')).unlink(missing_ok=True)


def _claim(archive: Path) -> str:
    """Return the option with which Java writes the archive, unless another session will."""
    new = archive.with_suffix(UNFINISHED)
    try:
        # Java replaces the file.
        new.touch(exist_ok=False)
    except FileExistsError:
        return ""
    return f'"-XX:ArchiveClassesAtExit={new}"'


def _version(java: Path) -> str:
    """Return a digest of Java and the jars. Java compares the times of the jars, too."""
    import pyspark

    program, jars = java.resolve(), Path(pyspark.__file__).parent / "jars"
    facts = (program, program.stat().st_mtime_ns, jars, jars.stat().st_mtime_ns)
    return sha256(repr(facts).encode()).hexdigest()[:16]


def _adopt(archive: Path) -> None:
    """Rename the archive if an earlier session has completed it."""
    new = archive.with_suffix(UNFINISHED)
    with suppress(FileNotFoundError):
        with new.open("rb") as opened:
            is_complete = opened.read(len(COMPLETE)) == COMPLETE
        if is_complete:
            new.replace(archive)


def _clean(folder: Path) -> None:
    """Delete archives of former versions, and those whose Java was killed before or while it wrote them."""
    for suffix, longest in ((SUFFIX, UNUSED), (UNFINISHED, ABANDONED)):
        for file in folder.glob(f"{PREFIX}*{suffix}"):
            with suppress(FileNotFoundError):
                if time() - file.stat().st_mtime > longest:
                    file.unlink()
