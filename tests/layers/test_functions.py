"""Each function runs with its layers and Lambda's runtime only, within the size limit."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from platform import machine
from shutil import copytree, ignore_patterns

import pytest

from tests.layers.making import ROOT, zipped
from tests.servers import Database

FUNCTIONS = ROOT / "functions"
SUFFIX = {"x86_64": "X86", "aarch64": "Arm64"}.get(machine())
IN_THE_RUNTIME = (
    "boto3",
    "botocore",
    "s3transfer",
    "dateutil",
    "six",
)  # their jmespath and urllib3 are in a layer
LAYERS = {
    "dispatcher": ("Dependencies",),
    "worker": ("Dependencies",),
    "migrate": ("Dependencies",),
    "api": ("Dependencies", "Api"),
}
# Bytes of what a worker's environment loads, layers and function; MB as Lambda counts them.
MOST = 7 * 2**20
# Of the library's layer alone.
MOST_OF_LIBRARY = 1.75 * 2**20

LOGGED = """
from dataclasses import dataclass
from types import SimpleNamespace
from aws_lambda_powertools import Logger, Metrics

@dataclass
class Fact:
    value: int

logger, metrics = Logger(service="test"), Metrics(namespace="test", service="test")
context = SimpleNamespace(
    function_name="f", memory_limit_in_mb=1, invoked_function_arn="arn", aws_request_id="1", function_version="1"
)

@logger.inject_lambda_context(correlation_id_path="a.b")
@metrics.log_metrics(capture_cold_start_metric=True)
def handler(event, context):
    metrics.add_metric(name="n", unit="Count", value=1)
    try:
        raise ValueError("x")
    except ValueError:
        logger.exception("fact", extra={"fact": Fact(1)})

handler({"a": {"b": "c"}}, context)
"""

ASYNC = """
import sys, psycopg
assert "asyncio" not in sys.modules

async def main():
    connect = psycopg.AsyncConnection.connect
    async with await connect("{url}", autocommit=True) as connection, await connect("{url}", autocommit=True) as other:
        cursor = await connection.execute("select 1")
        assert await cursor.fetchone() == (1,)
        async with connection.transaction():
            await connection.execute("create temporary table copied (n integer)")
            async with connection.cursor().copy("copy copied from stdin") as copy:
                await copy.write_row([1])
        async with connection.pipeline():
            await connection.execute("insert into copied values (2)")
        task = asyncio.create_task(connection.execute("select pg_sleep(3600)"))
        sleeping = "select 1 from pg_stat_activity where pid = %s and wait_event = 'PgSleep'"
        while not (await other.execute(sleeping, [connection.info.backend_pid])).rowcount:
            pass
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass
        else:
            raise AssertionError("not cancelled")
        try:
            await connection.execute("select 1 / 0")
        except psycopg.errors.DivisionByZero:
            pass

import asyncio
asyncio.run(main())
"""

onto_this_machine = pytest.mark.skipif(
    sys.platform != "linux" or SUFFIX is None, reason="the layers are for Linux on arm64 or x86_64"
)


@pytest.fixture(scope="session")
def runtime_packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of Lambda's runtime, without others of this machine."""
    folder = tmp_path_factory.mktemp("runtime")
    for name in IN_THE_RUNTIME:
        found = importlib.util.find_spec(name)
        assert found
        assert found.origin
        origin = Path(found.origin)
        origin = origin.parent if origin.name == "__init__.py" else origin
        (folder / origin.name).symlink_to(origin)
    return folder


def run(code: str, function: str, *path: Path) -> str:
    """Run code in a new interpreter, isolated from this environment, and return its output."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=FUNCTIONS / function,
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def layers_of(compiled: Callable[[str], Path], runtime_packages: Path) -> Callable[[str], list[Path]]:
    """Return the module path of a function: its layers, then the runtime."""

    def of(function: str) -> list[Path]:
        layers = [compiled(f"{name}{SUFFIX}Layer") for name in LAYERS[function]]
        return [*layers, compiled("LibraryLayer"), runtime_packages]

    return of


@pytest.mark.slow
@onto_this_machine
@pytest.mark.parametrize("function", sorted(path.parent.name for path in FUNCTIONS.glob("*/app.py")))
def test_function_modules_load_from_its_layers(function: str, layers_of: Callable[[str], list[Path]]) -> None:
    own = FUNCTIONS / function
    library = ROOT / "shared"
    code = [library / "minutehand" / "functions" / f"{function}.py"]
    code += (library / "minutehand" / "functions" / function).rglob("*.py")
    files = [(own, path) for path in own.rglob("*.py")] + [(library, path) for path in code if path.exists()]
    modules = [".".join(path.relative_to(root).with_suffix("").parts) for root, path in files]

    run("\n".join(f"import {name}" for name in modules), function, *layers_of(function))


@pytest.mark.slow
@onto_this_machine
def test_encryption_layer_works_with_the_layers_of_the_worker(
    layers_of: Callable[[str], list[Path]], compiled: Callable[[str], Path]
) -> None:
    code = (
        "import json, os; os.environ['MINUTEHAND_ENCRYPTION_KEY'] = 'ab' * 32\n"
        "from minutehand.encryption.envelope import Subject, decrypt, encrypt\n"
        "print(decrypt(json.loads(encrypt('[1]', Subject('echo', id='1'))), Subject('echo', id='1')))"
    )

    assert run(code, "worker", compiled(f"Encryption{SUFFIX}Layer"), *layers_of("worker")) == "[1]\n"


@pytest.mark.slow
@onto_this_machine
def test_layers_of_the_worker_have_no_web_framework(layers_of: Callable[[str], list[Path]]) -> None:
    finding = "from importlib.util import find_spec as f; print(*map(f, ('fastapi', 'pydantic', 'mangum', 'click')))"

    assert run(finding, "worker", *layers_of("worker")).split() == ["None"] * 4


@pytest.mark.slow
@onto_this_machine
def test_reduced_powertools_log_and_emit_metrics(layers_of: Callable[[str], list[Path]]) -> None:
    lines = [json.loads(line) for line in run(LOGGED, "worker", *layers_of("worker")).splitlines()]

    wanted = {"exception_name": "ValueError", "fact": "Fact(value=1)", "correlation_id": "c"}
    assert lines[0] == lines[0] | wanted
    assert {name for line in lines[1:] for name in line} >= {"_aws", "ColdStart", "n"}


@pytest.mark.slow
@onto_this_machine
def test_reduced_psycopg_connects_to_a_database(
    layers_of: Callable[[str], list[Path]], direct_database: Database
) -> None:
    code = (
        "from minutehand import Database\n"
        f"print(Database({direct_database.url!r}).connection.execute('select now() - now() as x').fetchone())"
    )

    assert "timedelta" in run(code, "worker", *layers_of("worker"))


@pytest.mark.slow
@onto_this_machine
def test_async_connection_works_with_lazily_imported_asyncio(
    layers_of: Callable[[str], list[Path]], direct_database: Database
) -> None:
    run(ASYNC.format(url=direct_database.url), "worker", *layers_of("worker"))


@pytest.mark.programs
def test_library_layer_fits_its_size_budget(compiled: Callable[[str], Path]) -> None:
    # It is built without a package index, so this test runs for every change of the library.
    assert 1_000_000 < zipped(compiled("LibraryLayer")) < MOST_OF_LIBRARY


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["Arm64", "X86"])
def test_worker_and_its_layers_fit_their_size_budget(
    suffix: str, compiled: Callable[[str], Path], tmp_path: Path
) -> None:
    worker = copytree(FUNCTIONS / "worker", tmp_path / "worker", ignore=ignore_patterns("__pycache__"))

    size = zipped(compiled(f"Dependencies{suffix}Layer"), compiled("LibraryLayer"), worker)

    assert 4_000_000 < size < MOST
