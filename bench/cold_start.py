"""Cold start: size of each function with its layers, and processor time of its import."""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path
from platform import machine

import boto3

from bench.measure import Measured

ROUNDS = 9
ROOT = Path(__file__).parent.parent
SUFFIX = {"x86_64": "X86", "arm64": "Arm64", "aarch64": "Arm64"}
# In addition to the layers that all functions have.
LAYERS: dict[str, list[str]] = {"worker": [], "dispatcher": [], "migrate": [], "api": ["Api"]}
IN_THE_RUNTIME = ("boto3", "botocore", "s3transfer", "dateutil", "six.py", "jmespath", "urllib3")
AIMS = {
    "zip of worker": "7.34 MB",
    "import of worker": "150 ms",
    "import of dispatcher": "200 ms",
    "import of api": "300 ms",
}
VERSION = "import sys; print('%d.%d' % sys.version_info[:2], '%d.%d.%d' % sys.version_info[:3])"
# Processor time of the whole process, including the start of the interpreter.
TIME = "import time; print(time.process_time())"


def measure() -> list[Measured]:
    """Build the layers for the template's Python, or for this one, and measure each function on them."""
    python, version, exact = interpreter()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for layer in ("Dependencies", "Api", "Library"):
            build(layer, place / "compiled" / layer, python, version)
        copy_runtime(place / "runtime", python)
        shutil.copytree(ROOT / "functions", place / "functions", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(place / "compiled", place / "plain", ignore=shutil.ignore_patterns("__pycache__"))
        return [Measured("cold start", f"Python {exact}"), *sizes(place), *times(place, python)]


def interpreter() -> tuple[str, str, str]:
    """Return an interpreter of the template's version if it is on the PATH, otherwise this one."""
    template = (ROOT / "template.yaml").read_text("utf-8")
    wanted = template.partition("Runtime: python")[2].split()[0]
    for python in (f"python{wanted}", sys.executable):
        try:
            done = subprocess.run([python, "-c", VERSION], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        version, exact = done.stdout.split()
        break
    return python, version, exact if version == wanted else f"{exact}; {wanted} is not on the PATH"


def build(layer: str, artifacts: Path, python: str, version: str) -> None:
    """Build a layer for this machine and an interpreter."""
    name = layer if layer == "Library" else layer + SUFFIX[machine()]
    variables = {
        "ARTIFACTS_DIR": artifacts,
        "HOST_PYTHON": sys.executable,
        "PYTHON": python,
        "VERSION": version,
    }
    subprocess.run(
        ["make", "--silent", f"build-{name}Layer", *(f"{name}={value}" for name, value in variables.items())],
        cwd=ROOT / "layers" / layer.lower(),
        check=True,
        stdout=subprocess.DEVNULL,
    )


def copy_runtime(place: Path, python: str) -> None:
    """Copy the packages that Lambda's runtime contains, and compile them as Lambda does."""
    for source in (Path(boto3.__file__).parent.parent / name for name in IN_THE_RUNTIME):
        copy = shutil.copytree if source.is_dir() else shutil.copy
        place.mkdir(exist_ok=True)
        copy(source, place / source.name)
    subprocess.run([python, "-m", "compileall", "-q", place], check=True)


def sizes(place: Path) -> list[Measured]:
    """Measure the zips of a function and its layers, as `sam package` creates them."""
    lines = []
    for function in LAYERS:
        with_pyc, without = (
            zipped([*folders(place / kind, function), place / "functions" / function])
            for kind in ("compiled", "plain")
        )
        what = f"zip of {function}"
        lines.append(
            Measured(
                what, f"{with_pyc / 1e6:.2f} MB", f"{without / 1e6:.2f} without .pyc", "", AIMS.get(what, "")
            )
        )
    return lines


def folders(place: Path, function: str) -> list[Path]:
    """Return the folders of a function's layers."""
    return [place / layer / "python" for layer in ("Dependencies", *LAYERS[function], "Library")]


def zipped(packed: list[Path]) -> int:
    """Return the size of a zip in bytes."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for folder in packed:
            for path in sorted(folder.rglob("*")):
                file.write(path, path.relative_to(folder.parent))
    return len(buffer.getvalue())


def times(place: Path, python: str) -> list[Measured]:
    """Measure the imports in interleaved rounds, so that changes of the machine's speed affect all; use the minimum."""
    modules = {**dict.fromkeys(LAYERS, "app"), "psycopg alone": "psycopg", "nothing": "sys"}
    least: dict[tuple[str, str], float] = {}
    for _ in range(ROUNDS):
        for name, module in modules.items():
            for kind in ("compiled", "plain"):
                took = imported(place, kind, name, module, python)
                least[name, kind] = min(took, least.get((name, kind), took))
    return [
        Measured(
            f"import of {name}",
            f"{least[name, 'compiled']:.0f} ms CPU",
            f"{least[name, 'plain']:.0f} without .pyc",
            "",
            AIMS.get(f"import of {name}", ""),
        )
        for name in modules
    ]


def imported(place: Path, kind: str, name: str, module: str, python: str) -> float:
    """Return a fresh interpreter's processor time, in milliseconds, from its start to the end of an import."""
    function = name if name in LAYERS else "worker"
    path = [*folders(place / kind, function), place / "runtime"]
    done = subprocess.run(
        [python, "-c", f"import {module}; {TIME}"],
        cwd=place / "functions" / function,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout) * 1000
