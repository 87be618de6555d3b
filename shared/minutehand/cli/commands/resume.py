"""`minutehand resume`: end a pause."""

from typing import Any

import click

from minutehand.cli.actor import actor
from minutehand.cli.options import open_database
from minutehand.cli.scope import check_named, everything_option, put_ended, scope_options
from minutehand.operations import controls


@click.command()
@everything_option
@scope_options
def resume(form: str, **scope: Any) -> int:
    """Resume a queue, kind, key, group or tenant, or everything, that was paused with the same options.

    --all does not end the pauses of single queues, kinds, keys, groups and tenants.

    \b
    Examples:
      minutehand resume --queue mail
      minutehand resume --all
    """
    check_named(scope)
    with open_database() as database:
        return put_ended(controls.resume(database, **scope, actor=actor()), "paused", form)
