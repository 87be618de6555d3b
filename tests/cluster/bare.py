"""A machine that has only Spark, Java and Python."""

import os
import sys
from pathlib import Path

from minutehand_pipeline.java import ensure_java
from tests.cluster.standalone import SPARK


def machine(home: Path, python: Path) -> dict[str, str]:
    """Return a machine's environment: a PATH with the shell's tools and a bare Python, and an empty home."""
    tools = home / "tools"
    tools.mkdir(parents=True)
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    bare = tools / name
    bare.write_text(f'#!/bin/sh\nexec "{python}" -S "$@"\n')  # without installed packages
    bare.chmod(0o755)
    java = ensure_java()
    (home / "home").mkdir()
    return {
        "PATH": f"{tools}:{java.parent}:/usr/bin:/bin",
        "HOME": str(home / "home"),
        "SPARK_HOME": str(SPARK),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": "localhost",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_DIRS": str(home / "scratch"),
        "TZ": "Asia/Kolkata",
        **({"JAVA_HOME": os.environ["JAVA_HOME"]} if "JAVA_HOME" in os.environ else {}),
    }
