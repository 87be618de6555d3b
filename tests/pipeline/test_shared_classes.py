"""Sessions share an archive of classes, which the first of them writes when it ends."""

import os
import subprocess
import sys
from pathlib import Path
from time import time

import pytest

from minutehand_pipeline.java import ensure_java
from minutehand_pipeline.shared_classes import ABANDONED, COMPLETE, UNUSED, sharing_option
from tests.pipeline.running import ROOT, SECONDS

LOG = "-Xlog:class+load:file={}/classes.%p"
SESSION = "org.apache.spark.sql.classic.SparkSession source: shared objects file (top)"
A_JOB = """
from minutehand_pipeline.session import build_session
session = build_session("share", cores=1)
print(session.range(7).selectExpr("sum(id)").first()[0])
gateway = session.sparkContext._gateway.proc
gateway.stdin.close()
gateway.wait()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache's folder, which is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "minutehand"


def written(option: str, content: bytes) -> Path:
    """Write the file that Java would write with this option."""
    file = Path(option.strip('"').partition("=")[2])
    file.write_bytes(content)
    return file


def test_first_session_writes_the_archive_and_later_ones_read_it(folder: Path) -> None:
    first = sharing_option(ensure_java())
    assert first.startswith(f'"-XX:ArchiveClassesAtExit={folder}/spark-')

    written(first, COMPLETE + b"classes")

    [option] = {sharing_option(ensure_java()) for _ in range(2)}
    assert option.startswith(f'"-XX:SharedArchiveFile={folder}/spark-')
    assert Path(option.strip('"').partition("=")[2]).read_bytes() == COMPLETE + b"classes"


def test_one_session_writes_the_archive_and_others_do_without(folder: Path) -> None:
    first = sharing_option(ensure_java())

    assert sharing_option(ensure_java()) == ""

    written(first, bytes(8))
    assert sharing_option(ensure_java()) == ""


def test_another_java_has_another_archive(folder: Path, tmp_path: Path) -> None:
    written(sharing_option(ensure_java()), COMPLETE)
    other = tmp_path / "java"
    other.touch()

    assert "SharedArchiveFile" in sharing_option(ensure_java())
    assert "ArchiveClassesAtExit" in sharing_option(other)


def test_unused_and_abandoned_archives_are_deleted(folder: Path) -> None:
    folder.mkdir()
    for name, age in (("spark-a.jsa", UNUSED), ("spark-b.new", ABANDONED), ("spark-d.jsa", ABANDONED)):
        (folder / name).write_bytes(bytes(4))
        os.utime(folder / name, (time() - age - 60,) * 2)

    new = written(sharing_option(ensure_java()), COMPLETE)

    assert {file.name for file in folder.iterdir()} == {"spark-d.jsa", new.name}


def test_session_without_a_writable_cache_shares_nothing(folder: Path) -> None:
    folder.touch()

    assert sharing_option(ensure_java()) == ""


def test_session_without_a_home_or_jars_shares_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sharing_option(tmp_path / "missing") == ""

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", no_home)

    assert sharing_option(ensure_java()) == ""


@pytest.mark.long
def test_second_session_loads_spark_from_the_archive(folder: Path) -> None:
    assert SESSION not in shared_classes(folder)

    assert SESSION in shared_classes(folder)


@pytest.mark.long
def test_damaged_archive_is_deleted(folder: Path, tmp_path: Path) -> None:
    java = ensure_java()
    subprocess.run([java, sharing_option(java).strip('"'), "-version"], check=True, capture_output=True)
    archive = Path(sharing_option(java).strip('"').partition("=")[2])
    archive.chmod(0o644)
    os.truncate(archive, archive.stat().st_size // 2)

    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", A_JOB],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )

    assert done.stdout.split() == ["21"], done.stderr
    assert not archive.exists()


def shared_classes(folder: Path) -> str:
    """Run a job until its Java has ended; return the lines of Java's log of the classes that were shared."""
    environment = os.environ | {"XDG_CACHE_HOME": str(folder.parent), "PYTHONPATH": str(ROOT)}
    environment["JDK_JAVA_OPTIONS"] = LOG.format(folder.parent)
    done = subprocess.run(
        [sys.executable, "-c", A_JOB], env=environment, capture_output=True, text=True, timeout=SECONDS
    )
    assert done.stdout.split() == ["21"], done.stderr
    logs = list(folder.parent.glob("classes.*"))
    text = "\n".join(log.read_text() for log in logs)
    for log in logs:
        log.unlink()
    return "\n".join(line for line in text.splitlines() if "shared objects file" in line)
