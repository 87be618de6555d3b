"""A warning about changes that the dispatcher of mode sleep does not notice, because this process requests no tick."""

from contextlib import suppress

import click

from minutehand.cli.output import print_message
from minutehand.database import Database
from minutehand.errors import DatabaseError
from minutehand.settings import sleeps

# The commands after which jobs may start. With the mode set, they request a tick.
NEED_TICK = frozenset(
    (
        "batches close",
        "batches retry",
        "enqueue",
        "limit",
        "promote",
        "replay",
        "reschedule",
        "resume",
        "retry",
        "schedules install",
        "schedules put",
        "schedules resume",
        "schedules run",
        "unblock",
        "unlimit",
    )
)
WARNING = (
    "Warning: the dispatcher of this database runs in mode sleep, and this command requested no tick, because "
    "MINUTEHAND_MODE is not sleep here. Jobs start at the next tick, which may be hours away. To request one, set "
    "MINUTEHAND_MODE=sleep, MINUTEHAND_ALARM_GROUP, MINUTEHAND_ALARM_TARGET and MINUTEHAND_ALARM_ROLE, and run: "
    "minutehand tick --wake"
)


def warn_of_sleep(database: Database) -> None:
    """Warn at the end of a command that needs a tick, unless this process requests one or the mode is another."""
    context = click.get_current_context()
    if _name(context) not in NEED_TICK or context.params.get("dry_run") or sleeps():
        return
    # A role that only enqueues may not read the mode.
    with suppress(DatabaseError):
        if database.run("stored_mode") == [{"mode": "sleep"}]:
            context.call_on_close(lambda: print_message(WARNING))


def _name(context: click.Context) -> str:
    """Return the words of a command without the program's name, which may be several words, as in `python -m`."""
    words: list[str] = []
    while context.parent is not None:
        words.insert(0, context.info_name or "")
        context = context.parent
    return " ".join(words)
