"""`minutehand resume`: end a pause."""

import click

from minutehand.cli.actor import actor
from minutehand.cli.options import open_database
from minutehand.cli.scope import put_ended, scope_options
from minutehand.operations import controls


@click.command()
@scope_options
def resume(form: str, **scope: str) -> int:
    """Resume a queue, kind, key or tenant that was paused with the same options.

    \b
    Examples:
      minutehand resume --queue mail
    """
    with open_database() as database:
        return put_ended(controls.resume(database, **scope, actor=actor()), "paused", form)
