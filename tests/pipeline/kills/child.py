"""A command of the pipeline in a forked process, which uses a Spark that is already running."""

import os
import sys
from pathlib import Path

import pandas  # noqa: F401, imported once before all forks
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

import minutehand_pipeline.archive.archive
import minutehand_pipeline.archive.erase
import minutehand_pipeline.load.load
import minutehand_pipeline.report.report  # noqa: F401
from minutehand.cli.exits import run_to_exit_code
from minutehand_pipeline.cli import COMMANDS, pipeline

MASTER = "local[2,4]"


def run(words: tuple[str, ...], gateway: tuple[str, str] | None, output: str) -> None:
    """Run a command in a session of its own, and end with its exit code."""
    os.setsid()
    with Path(output).open("ab", buffering=0) as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    if gateway is not None:
        attach(*gateway)
    code = run_to_exit_code(lambda: pipeline.main(list(words), standalone_mode=False))
    sys.stdout.flush()
    os._exit(code)


def attach(port: str, secret: str) -> None:
    """Make a session of this process on the Java that runs."""
    os.environ |= {"PYSPARK_GATEWAY_PORT": port, "PYSPARK_GATEWAY_SECRET": secret}
    gateway = launch_gateway()
    SparkContext._ensure_initialized(gateway=gateway)
    java = gateway.jvm
    assert java is not None
    conf = SparkConf().setMaster(MASTER).setAppName("kills")
    running = java.JavaSparkContext(java.org.apache.spark.SparkContext.getOrCreate())
    SparkSession(SparkContext(conf=conf, gateway=gateway, jsc=running))


def preload() -> None:
    """Import all commands."""
    for name in COMMANDS:
        pipeline.get_command(None, name)  # type: ignore[arg-type]


preload()
