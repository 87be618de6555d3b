"""The processes of `minutehand work --processes`, each a worker with the same options."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import click

from minutehand.cli.crew import Crew
from minutehand.cli.metrics_endpoint import check_ports
from minutehand.cli.options import debugging

HIGHEST_PORT = 65535


def run_crew(processes: int, form: str) -> int:
    """Start workers with the options of this command, and its environment; return the exit code."""
    options = click.get_current_context().params
    port = options["metrics_port"]
    if port is not None and port + processes - 1 > HIGHEST_PORT:
        raise click.BadParameter(
            f"{processes} processes need ports up to {port + processes - 1}, but the highest is {HIGHEST_PORT}",
            param_hint="--metrics-port",
        )
    if port is not None:
        check_ports(options["metrics_host"], range(port, port + processes))
    common = [sys.executable, "-m", "minutehand", "work", "--follow-stdin", "-o", form, *_arguments(options)]
    common += ["--debug"] if debugging() else []
    return Crew([[*common, *_port(port, number)] for number in range(processes)], os.environ).run()


def _port(first: int | None, number: int) -> list[str]:
    return [] if first is None else ["--metrics-port", str(first + number)]


def _arguments(options: dict[str, Any]) -> Iterator[str]:
    for name, option in (
        ("chunk", "--chunk"),
        ("concurrency", "--concurrency"),
        ("metrics_host", "--metrics-host"),
    ):
        if options[name] is not None:
            yield from (option, str(options[name]))
    for name, option in (("idle", "--idle"), ("lease", "--lease"), ("stop_timeout", "--stop-timeout")):
        if options[name] is not None:
            yield from (option, f"{options[name].total_seconds():f}s")
    for name, option in (("names", "--queue"), ("sources", "--handlers")):
        for value in options[name]:
            yield from (option, value)
    yield from (f"--{name}" for name in ("drain", "strict") if options[name])
