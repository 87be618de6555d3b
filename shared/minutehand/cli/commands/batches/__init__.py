"""`minutehand batches`: list batches, and cancel, retry or close one."""

import click

from minutehand.cli.commands.batches.cancel import cancel
from minutehand.cli.commands.batches.close import close
from minutehand.cli.commands.batches.ls import ls
from minutehand.cli.commands.batches.open import open_
from minutehand.cli.commands.batches.retry import retry
from minutehand.cli.commands.batches.show import show


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
