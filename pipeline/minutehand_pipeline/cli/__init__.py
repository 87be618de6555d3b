"""The verbs of `minutehand pipeline`; each is imported when it is called, so that `--help` starts no Spark."""

from importlib import import_module

import click

VERBS = {
    "archive": "Carry finished days from the database to the lake.",
    "erase": "Erase a subject's data from the lake.",
    "report": "Say from the lake how the queue did, and what it cost.",
    "load": "Enqueue files of the lake, spread over time.",
    "simulate": "Say what another policy would have done.",
}


class Verbs(click.Group):
    """The group of the pipeline's verbs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs' names."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the verb."""
        if cmd_name not in VERBS:
            return None
        command: click.Command = getattr(import_module(f"minutehand_pipeline.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list without importing the verbs."""
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def pipeline() -> None:
    """Run archive, report, load and simulate with Spark.

    It wants the extras `pipeline` and `spark`; a cluster brings its own Spark.
    `minutehand pipeline VERB --help` explains a verb.
    """
