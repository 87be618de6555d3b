"""A warning about changes that the dispatcher of mode sleep does not notice, because this process requests no tick."""

from contextlib import suppress

import click

from minutehand.cli.output import print_message
from minutehand.database import Database
from minutehand.errors import DatabaseError
from minutehand.settings import sleeps
from minutehand.waking.unrequested import unrequested

WARNING = (
    "warning: the dispatcher of this database runs in mode sleep, and {subject} no tick, because MINUTEHAND_MODE is "
    "not sleep here. Due jobs may wait for hours. To request a tick, set MINUTEHAND_MODE=sleep, "
    "MINUTEHAND_WAKEUP_GROUP, MINUTEHAND_WAKEUP_TARGET and MINUTEHAND_WAKEUP_ROLE to the values of the stack, and run: "
    "minutehand tick --wake"
)
COMMAND, CONSOLE = "this command requested", "changes in this console request"


def forget_changes() -> None:
    """Forget what this process changed before the command."""
    unrequested.take()


def warn_of_sleep(database: Database) -> None:
    """Warn at the end of the command if it made jobs due or scheduled some, and the dispatcher sleeps.

    Costs one statement if it did. Never raises.
    """
    if unrequested.take() and _dispatcher_sleeps(database):
        click.get_current_context().call_on_close(lambda: print_message(WARNING.format(subject=COMMAND)))


def warn_of_sleep_ahead(database: Database) -> None:
    """Warn before the console serves requests, whose changes come later."""
    if _dispatcher_sleeps(database):
        print_message(WARNING.format(subject=CONSOLE))


def _dispatcher_sleeps(database: Database) -> bool:
    """Return whether the dispatcher sleeps and this process requests no tick; False if the login may not know."""
    if not sleeps():
        with suppress(DatabaseError):
            return database.run("stored_mode") == [{"mode": "sleep"}]
    return False
