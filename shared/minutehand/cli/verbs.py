"""The verbs by name; each is imported when it is called, so that `--help` is quick and boto3 stays out."""

from importlib import import_module
from typing import Any

import click

import minutehand
from minutehand.cli.ends import ended, ending_of
from minutehand.cli.options import connection_options

VERBS = {
    "migrate": "Bring the database's schema up to this version.",
    "dev": "Run everything on this machine and show what happens.",
    "enqueue": "Enqueue one job, or many from a file.",
    "ls": "List jobs, the last enqueued first.",
    "show": "Show all that is known of a job.",
    "wait": "Wait until jobs are finished.",
    "stats": "Count the jobs of each queue by state.",
    "queues": "List the queues there are.",
    "events": "Show what happened, of what the table of events keeps.",
    "retry": "Bring dead and cancelled jobs back, due at once.",
    "cancel": "End jobs that have not begun.",
    "promote": "Make jobs due at once.",
    "reschedule": "Move jobs to another moment.",
    "edit": "Change what jobs that have not begun carry.",
    "remove": "Delete jobs that have not begun.",
    "replay": "Run finished jobs again, as new ones.",
    "redrive": "Bring dead jobs back at a chosen rate.",
    "reprocess": "Run finished jobs of older code again.",
    "pause": "Pause a queue, a kind, a key or a tenant.",
    "resume": "Resume what was paused.",
    "limit": "Limit how many of its jobs run at once.",
    "unlimit": "End a limit.",
    "controls": "List what is paused or limited.",
    "drop": "Delete all jobs of a queue that have not begun.",
    "audit": "Show who changed what by hand.",
    "purge": "Delete finished jobs for good.",
    "retention": "List or say how long finished jobs are kept.",
    "rotate": "Encrypt what waits anew, with the current key.",
    "defaults": "List or set what a kind's jobs get by default.",
    "schedules": "List and change what is enqueued again and again.",
    "tick": "Make one pass of the dispatcher by hand.",
    "work": "Work a queue off on this machine.",
    "pipeline": "Run archive, report, load and simulate with Spark.",
    "doctor": "Examine an installation, and say what to do.",
    "completion": "Print a shell's completion script.",
}

ELSEWHERE = {
    "dev": "minutehand.local.dev:dev",
    "retry": "minutehand.cli.change:retry",
    "cancel": "minutehand.cli.change:cancel",
    "promote": "minutehand.cli.change:promote",
    "reschedule": "minutehand.cli.change:reschedule",
    "remove": "minutehand.cli.change:remove",
    "replay": "minutehand.cli.change:replay",
    "redrive": "minutehand.cli.reprocess:redrive",
    "pause": "minutehand.cli.control:pause",
    "resume": "minutehand.cli.control:resume",
    "limit": "minutehand.cli.control:limit",
    "unlimit": "minutehand.cli.control:unlimit",
    "controls": "minutehand.cli.control:controls",
    "pipeline": "minutehand_pipeline.cli:pipeline",
}

EPILOG = """
\b
Exit codes:
  0    all went well
  1    something was refused, rejected or not found, or doctor found a problem
  2    a command, an option or a setting is wrong
  3    the database cannot be reached, takes no writes, or refuses
  4    the schema is missing, older or newer than this code
  5    a local run cannot start
  6    a job that was waited for is not finished yet
  130  interrupted with Ctrl-C
  141  whoever read the output has gone

\b
Output: a table for people; -o json prints one JSON object a line, with ISO moments and
durations in seconds; -o ids prints one id a line. What is only said, and not asked for,
goes to stderr. Durations are written 90s, 10m, 2h30m, 3d or as ISO 8601 (PT10M).

\b
Examples:
  minutehand migrate
  minutehand enqueue welcome '{"email": "ada@example.com"}' --in 10m
  minutehand ls --state dead -o ids | minutehand retry -
"""


class Verbs(click.Group):
    """The group of all verbs, in the order in which a newcomer meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs' names."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb; with its extra missing, say which one."""
        if cmd_name not in VERBS:
            return None
        module, _, name = ELSEWHERE.get(cmd_name, f"minutehand.cli.{cmd_name}:{cmd_name}").partition(":")
        try:
            command: click.Command = getattr(import_module(module), name)
        except ModuleNotFoundError as error:
            if ctx.resilient_parsing:
                return None
            if cmd_name == "dev":
                raise click.UsageError(
                    f"dev is an extra ({error.name} is missing); run: pip install 'minutehand[local]'"
                ) from None
            raise
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing the verbs."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run, and end with the exit code that the help promises; a verb returns its own or None."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **extra)  # type: ignore[call-overload]
        raise SystemExit(ended(lambda: self.main(*args, standalone_mode=False, **extra)))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; turn what it raises into a sentence and an exit code."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            return ending_of(error)


@click.group(
    cls=Verbs,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(minutehand.__version__, message="minutehand %(version)s")
@connection_options
def cli() -> None:
    """Run a job queue for code that runs on AWS Lambda and data that is in Postgres.

    DATABASE_URL names the database; without it, a local run in this folder is found.
    `minutehand VERB --help` explains a verb.
    """
