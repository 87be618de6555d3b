"""The layers load without the metadata of distributions, and with the versions that it states."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.layers.making import ROOT
from tests.layers.test_functions import SUFFIX, onto_this_machine

# Their import takes a fifth of a cold start.
NEEDLESS = {"email", "importlib.metadata", "importlib.resources", "tempfile", "zipfile"}
# psycopg would import them in every process.
ASYNC = {"asyncio", "concurrent.futures", "subprocess"}
SEARCHING = {"ctypes", "shutil"}
# The most modules of a worker on its layers, those of the interpreter included.
MOST = 385
LOADED = """
import gc, json, sys
import app
import psycopg, psycopg_binary
versions = [psycopg.__version__, psycopg_binary.__version__]
print(json.dumps([versions, gc.isenabled(), gc.get_freeze_count(), sorted(sys.modules)]))
"""


@pytest.mark.slow
@onto_this_machine
def test_worker_loads_without_reading_metadata(compiled: Callable[[str], Path]) -> None:
    layers = [compiled(f"Dependencies{SUFFIX}Layer"), compiled("LibraryLayer")]
    done = subprocess.run(
        [sys.executable, "-S", "-c", LOADED],
        cwd=ROOT / "functions" / "worker",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, layers))},
        capture_output=True,
        text=True,
        check=True,
    )
    versions, collecting, frozen, modules = json.loads(done.stdout)

    (stated,) = {path.name.removesuffix(".dist-info").split("-")[1] for path in layers[0].glob("psycopg-*")}
    assert versions == [stated, stated]
    assert (NEEDLESS | ASYNC | SEARCHING) & set(modules) == set()
    assert len(modules) <= MOST
    assert collecting
    assert frozen > 10_000
