"""The CLI with commands that fail on purpose: `python -m tests.pipeline.stage hold`."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING

import click

from minutehand.cli import main
from minutehand.cli.options import connection_options
from minutehand_pipeline import cli
from minutehand_pipeline.errors import InputError
from minutehand_pipeline.session import build_session

if TYPE_CHECKING:
    import pandas as pd


@click.command()
@click.argument("spot")
@connection_options
def hold(spot: str) -> None:
    """Block a task until Ctrl-C; create the file `spot` when it runs."""
    spark = build_session("hold", cores=1)

    def forever(frames: "Iterator[pd.DataFrame]") -> "Iterator[pd.DataFrame]":
        from pathlib import Path
        from threading import Event

        Path(spot).touch()
        Event().wait()
        yield from frames

    spark.range(1).mapInPandas(forever, "id long").count()


@click.command()
@click.argument("how")
@connection_options
def fail(how: str) -> None:
    """Fail in one of Spark's ways."""
    spark = build_session("fail", cores=1)

    def refuse(_frames: "Iterator[pd.DataFrame]") -> "Iterator[pd.DataFrame]":
        raise InputError("the file is incomplete; write it again")

    match how:
        case "task":
            spark.range(1).mapInPandas(refuse, "id long").count()
        case "path":
            spark.read.parquet("/nowhere/at/all").count()
        case "java":
            from pyspark import SparkContext

            java = SparkContext._gateway.proc  # type: ignore[union-attr]
            java.kill()
            java.wait()
            spark.range(1).count()


def add(command: click.Command) -> None:
    """Add a command to the group."""
    name = str(command.name)
    module = ModuleType(f"minutehand_pipeline.cli.{name}")
    setattr(module, name, command)
    sys.modules[module.__name__] = module
    cli.COMMANDS[name] = str(command.help)


if __name__ == "__main__":
    add(hold)
    add(fail)
    sys.argv.insert(1, "pipeline")
    main()
