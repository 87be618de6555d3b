"""`minutehand batches`: list batches, and cancel, retry or close one."""

import click

from minutehand.cli.commands.batches.change import cancel, close, open_, retry
from minutehand.cli.commands.batches.read import ls, show


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def batches() -> None:
    """List batches and change their jobs.

    \b
    Examples:
      minutehand batches ls
      minutehand batches show 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
      minutehand batches retry 019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10
    """


for command in (cancel, close, ls, open_, retry, show):
    batches.add_command(command)
