"""Get the image of Lambda's Python; without a registry, make a stand-in from a Python of this machine.

The stand-in has the interpreter, the runtime client and the libraries of this machine where Lambda's image has
Amazon Linux's: it shows that template, layers, handlers and variables fit, not that a wheel suits Amazon Linux.
"""

import json
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shutil import copy, copytree, ignore_patterns, which

from tests.sam_local.engine import Engine

ARCHITECTURE = {"arm64": "arm64", "aarch64": "arm64"}.get(platform.machine(), "x86_64")
PACKAGES = ["awslambdaric==4.2.2", "boto3==1.43.108"]
# What SAM's steps on top of an image run, and what wheels of an older libc still ask for by name.
PROGRAMS = ["sh", "mv", "cp", "rm", "chmod", "mkdir"]
LIBC = [
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "libutil.so.1",
    "libm.so.6",
    "libc.so.6",
    "libresolv.so.2",
]
LIBRARIES = [*LIBC, "libnss_files.so.2", "libnss_dns.so.2", "libgcc_s.so.1", "libstdc++.so.6"]
PLACES = ["usr/bin", "usr/lib", "etc", "tmp", "var/lang/bin", "var/runtime", "var/task", "var/rapid", "opt"]
PIP = [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--disable-pip-version-check",
    "--only-binary=:all:",
    "--implementation",
    "cp",
]
UNWANTED = [
    "test",
    "idlelib",
    "tkinter",
    "ensurepip",
    "site-packages",
    "dist-packages",
    "config-*",
    "__pycache__",
]
TELL = "import json, sys, sysconfig; print(json.dumps([sys.base_prefix, sysconfig.get_path('stdlib'), sys.executable]))"
CHANGES = [
    "WORKDIR /var/task",
    "ENV LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime LANG=C.UTF-8",
    "ENV PATH=/var/lang/bin:/usr/bin:/bin:/opt/bin",
]
BOOTSTRAP = """\
#!/bin/sh
export PYTHONPATH="/var/task:/opt/python:/opt/python/lib/{python}/site-packages:/var/runtime"
export LD_LIBRARY_PATH="/var/lang/lib:/usr/lib:/var/task:/var/task/lib:/opt/lib"
export AWS_EXECUTION_ENV=AWS_Lambda_{python}
exec /var/lang/bin/{python} -m awslambdaric "${{_HANDLER:-$1}}"
"""


@dataclass(frozen=True)
class Image:
    """An image and the runtime that it is for; `name` is empty if SAM finds it by itself."""

    name: str
    runtime: str


def get_image(engine: Engine, runtime: str) -> Image:
    """Return the image of that runtime, or a stand-in for it, or for the runtime of another Python that is here."""
    name = f"public.ecr.aws/lambda/python:{runtime.removeprefix('python')}-{ARCHITECTURE}"
    try:
        engine.docker("pull", "--quiet", name, timeout=300)
        return Image("", runtime)
    except subprocess.SubprocessError:
        python = _runnable(runtime) or Path(sys.executable)
    runtime = f"python{_ask(python, 'import sys; print(*sys.version_info[:2], sep=chr(46))')}"
    name = f"minutehand-sam-local:{runtime}"
    with tempfile.TemporaryDirectory(prefix="minutehand-image-") as root:
        _fill(Path(root), python, runtime)
        _import(engine, root, name)
    return Image(name, runtime)


def _import(engine: Engine, root: str, name: str) -> None:
    with tempfile.TemporaryFile() as archive:
        subprocess.run(["tar", "--directory", root, "--create", "."], check=True, stdout=archive)
        archive.seek(0)
        changes = [word for line in CHANGES for word in ("--change", line)]
        engine.docker("import", *changes, "-", name, stdin=archive)


def _runnable(runtime: str) -> Path | None:
    """Return that Python if it is on the PATH and really runs."""
    found = which(runtime)
    try:
        return Path(_ask(Path(found), "import sys; print(sys.executable)")) if found else None
    except subprocess.CalledProcessError:
        return None


def _fill(root: Path, python: Path, runtime: str) -> None:
    for place in PLACES:
        (root / place).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name.removesuffix('64')}")
    (root / "tmp").chmod(0o1777)
    _put_python(root, python, runtime)
    for program in PROGRAMS:
        copy(which(program) or program, root / "usr/bin")
    programs = [*root.glob("usr/bin/*"), root / "var/lang/bin" / runtime, *root.rglob("*.so")]
    for library in _libraries(programs):
        copy(library, root / "usr/lib")
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\n")
    (root / "etc/nsswitch.conf").write_text("hosts: files dns\n")
    bootstrap = root / "var/runtime/bootstrap"
    bootstrap.write_text(BOOTSTRAP.format(python=runtime))
    bootstrap.chmod(0o755)


def _put_python(root: Path, python: Path, runtime: str) -> None:
    prefix, library, program = json.loads(_ask(python, TELL))
    copy(Path(program).resolve(), root / "var/lang/bin" / runtime)
    stdlib = root / "var/lang" / Path(library).relative_to(prefix)
    copytree(library, stdlib, ignore=ignore_patterns(*UNWANTED), ignore_dangling_symlinks=True)
    place = ["--python-version", runtime.removeprefix("python"), "--target", str(root / "var/runtime")]
    machine = {"arm64": "aarch64"}.get(ARCHITECTURE, ARCHITECTURE)
    platforms = [f"--platform=manylinux{era}_{machine}" for era in ("_2_28", "2014")]
    subprocess.run([sys.executable, *PIP, *place, *platforms, *PACKAGES], check=True, capture_output=True)


def _libraries(programs: Iterable[Path]) -> set[Path]:
    """Return every library of this machine that the programs load, and the loader itself."""
    output = subprocess.run(["ldd", *programs], check=False, capture_output=True, text=True).stdout
    found = {Path(path) for path in re.findall(r"(?:=> |^\s+)(/\S+) \(0x", output, re.MULTILINE)}
    libraries = next(path.resolve().parent for path in found if path.name == "libc.so.6")
    return found | {path for name in LIBRARIES if (path := libraries / name).exists()}


def _ask(python: Path, code: str) -> str:
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
