"""The command group. Each command is imported when it is called, so that `--help` is fast and does not import boto3."""

from importlib import import_module
from typing import Any

import click

import minutehand
from minutehand.cli.command_names import COMMANDS
from minutehand.cli.exits import exit_code_of, run_to_exit_code
from minutehand.cli.options import connection_options
from minutehand.model.suggestion import suggestion

EPILOG = """
\b
Exit codes:
  0    success
  1    a job was refused, rejected or not found, or doctor found a problem
  2    invalid command, argument, option, input file or setting
  3    the database is unreachable, busy, read-only, or denies access
  4    the schema is missing, older or newer than this version
  5    the local run cannot start
  6    timed out before a job finished
  7    an archive or an erasure is incomplete; repeat it later
  130  interrupted with Ctrl-C
  141  broken pipe

\b
Output: -o table is for people; -o json prints one JSON object per line, with
ISO 8601 times and durations in seconds; -o ids prints one id per line.
Messages go to stderr.
Write durations as 90s, 10m, 2h30m, 3d or in ISO 8601 (PT10M).

\b
Examples:
  minutehand migrate
  minutehand enqueue welcome '{"email": "ada@example.com"}' --in 10m
  minutehand ls --state dead -o ids | minutehand retry -
"""


class Commands(click.Group):
    """The group of all commands, ordered by use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; raise UsageError if its extra is missing."""
        if cmd_name not in COMMANDS:
            return None
        try:
            module = import_module(f"minutehand.cli.commands.{cmd_name}")
        except ModuleNotFoundError as error:
            if ctx.resilient_parsing:
                return None
            if cmd_name in ("dev", "console"):
                raise click.UsageError(
                    f"{cmd_name} requires an extra ({error.name} is missing); run: pip install 'minutehand[local]'"
                ) from None
            if cmd_name == "pipeline":
                raise click.UsageError(
                    f"pipeline requires another package ({error.name} is missing); "
                    "run: pip install 'minutehand-pipeline[spark]'"
                ) from None
            raise
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; suggest one that has a similar name."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            # Of a known command, the error is about its extra.
            hint = "" if args[0] in COMMANDS else suggestion(args[0], COMMANDS)
            raise click.UsageError(f"{error.message.rstrip('.')}{hint}", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run, and exit with a documented code; a command returns its code, or None for success."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **extra)  # type: ignore[call-overload]
        raise SystemExit(run_to_exit_code(lambda: self.main(*args, standalone_mode=False, **extra)))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; print what it raises as one sentence and return the exit code."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            return exit_code_of(error)


@click.group(
    cls=Commands,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(minutehand.__version__, message="minutehand %(version)s")
@connection_options
def cli() -> None:
    """Manage a job queue for AWS Lambda and Postgres.

    Set DATABASE_URL to the URL of your database. Without it, the local run in this folder is used.
    `minutehand COMMAND --help` describes a command.
    """
