"""`manage.py minutehand`: the command line in the database of a Django project."""

from argparse import REMAINDER
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, connections

from minutehand.cli import main
from minutehand.cli.options import database_in_environment
from minutehand.database import default_database

# Parameters of a Django connection that libpq has too.
LIBPQ = ("host", "port", "dbname", "user", "password", "passfile", "service", "options", "connect_timeout")


class Command(BaseCommand):
    """Forwards its arguments. Handlers of `work` run in this process, so that they can use models."""

    help = "Run a command of minutehand in the database of this project."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the alias of the database, and all other arguments unchanged."""
        parser.add_argument(
            "--database",
            choices=tuple(connections),
            default=DEFAULT_DB_ALIAS,
            help="The alias in DATABASES. Write it before the command.",
        )
        parser.add_argument(
            "arguments",
            nargs=REMAINDER,
            metavar="command",
            help="Such as: ls --state dead. `help` lists all.",
        )

    def handle(self, *, arguments: list[str], database: str, **_options: Any) -> None:
        """Run the command; exit with its code if it fails."""
        with _environment(_url(connections[database])):
            try:
                main(arguments, "manage.py minutehand")
            except SystemExit as ended:
                if ended.code:
                    raise


def _url(connection: Any) -> str:
    """Return the URL of a connection, by Django's own reading of its settings."""
    if connection.vendor != "postgresql":
        raise CommandError(
            f"minutehand needs PostgreSQL, and the database {connection.alias!r} is {connection.vendor}"
        )
    given = connection.get_connection_params()
    shared = {
        name: given[name] for name in given if name in LIBPQ or name.startswith(("ssl", "gss", "keepalives"))
    }
    return f"postgresql:///?{urlencode(shared, quote_via=quote)}"


@contextmanager
def _environment(url: str) -> Iterator[None]:
    with database_in_environment(url):
        # The default database may be connected to another alias.
        default_database().close()
        try:
            yield
        finally:
            default_database().close()
