"""Options that commands share (connection, output, filters), and the open database."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from minutehand.cli.kinds import complete_kinds
from minutehand.cli.once import filter_option
from minutehand.cli.sleeping import forget_changes, warn_of_sleep
from minutehand.database import Database
from minutehand.database.tenants import TenantDatabase, is_tenant
from minutehand.errors import ConfigurationError
from minutehand.schema.migrate import check_schema
from minutehand.settings import database_url, names_database
from minutehand.settings.table import DATABASE_URL

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

URL, DEBUG, TENANT = "minutehand.database_url", "minutehand.debug", "minutehand.tenant"


def _store(name: str, ctx: click.Context, _parameter: click.Parameter, value: Any) -> None:
    if value:
        ctx.meta[name] = value


def connection_options(command: Decorated) -> Decorated:
    """Add `--database-url` and `--debug`, which are allowed before and after the command's name."""
    url = click.option(
        "--database-url",
        metavar="URL",
        expose_value=False,
        callback=partial(_store, URL),
        help="Postgres connection URL. Prefer DATABASE_URL: arguments are visible in `ps`.",
    )
    debug = click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=partial(_store, DEBUG),
        help="Print the traceback of an error.",
    )
    return url(debug(command))


def tenant_option(command: Decorated) -> Decorated:
    """Add `--tenant`, which hides the jobs of other tenants."""
    return click.option(
        "--tenant",
        metavar="NAME",
        expose_value=False,
        callback=_store_tenant,
        help="Act as this tenant.",
    )(command)


def _store_tenant(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None and not is_tenant(value):
        raise click.BadParameter(
            f"must be 1 to 100 letters, digits and . - _ : @, starting with a letter or digit, got {value!r}"
        )
    _store(TENANT, ctx, parameter, value)


def output_option(*forms: str) -> Callable[[Decorated], Decorated]:
    """Add `-o`; the first form is the default."""
    return click.option(
        "-o",
        "--output",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help="Output format.",
    )


def limit_option(items: str, default: int, most: int | None = 1000) -> Callable[[Decorated], Decorated]:
    """Add `-n`, the maximum number of `items` to show, from 1 to `most`."""
    return click.option(
        "-n",
        "--limit",
        type=click.IntRange(1, most),
        default=default,
        show_default=True,
        help=f"At most this many {items}.",
    )


def filter_options(states: tuple[str, ...]) -> Callable[[Decorated], Decorated]:
    """Add the filters that select jobs."""

    def decorate(command: Decorated) -> Decorated:
        for option in (
            click.option(
                "--state",
                "states",
                type=click.Choice(states),
                multiple=True,
                help="Only jobs in this state; repeatable.",
            ),
            filter_option("--group", help="Only jobs of this group."),
            filter_option("--key", help="Only jobs with this key."),
            filter_option("--kind", shell_complete=complete_kinds, help="Only jobs of this kind."),
            filter_option("--queue", help="Only jobs in this queue."),
        ):
            command = option(command)
        return command

    return decorate


def tz_option(command: Decorated) -> Decorated:
    """Add `--tz`, without which a time must have an offset."""
    return zone_option("Time zone of times without an offset, such as Europe/Berlin.")(command)


def zone_option(text: str) -> Callable[[Decorated], Decorated]:
    """Add `--tz` with this help."""
    return click.option("--tz", metavar="ZONE", callback=_checked_zone, help=text)


def _checked_zone(_ctx: click.Context, _option: click.Parameter, name: str | None) -> str | None:
    """Return the name of a zone; raise a usage error for an unknown one, even if no time needs it."""
    if name is not None:
        # Imported here, so that `--help` stays fast.
        from minutehand.cli.values import zone

        zone(name)
    return name


def given_url() -> str | None:
    """Return the value of `--database-url`, or None."""
    url: str | None = click.get_current_context().meta.get(URL)
    return url


def local_run_url() -> str | None:
    """Return the URL of the local run in this folder, if it belongs to this user and no other database is set."""
    note = Path(".minutehand", "url")
    if names_database() or not note.exists() or note.stat().st_uid != os.geteuid():
        return None
    return note.read_text()


def named_url() -> str:
    """Return the URL that the environment names; raise ConfigurationError, which says what to do, if it names none."""
    if not names_database():
        raise ConfigurationError(
            "DATABASE_URL is not set, and no local run is active in this folder; set it to the URL of your database, "
            "or run in another terminal: minutehand dev"
        )
    return database_url()


def debugging() -> bool:
    """Return whether `--debug` was given."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(DEBUG))


def handlers_database() -> AbstractContextManager[None]:
    """Let handlers that enqueue without a connection, here or in child processes, use the command's database."""
    url = given_url() or local_run_url()
    return database_in_environment(url) if url else nullcontext()


@contextmanager
def database_in_environment(url: str) -> Iterator[None]:
    """Set DATABASE_URL, which arguments and logs do not show."""
    before = os.environ.get(DATABASE_URL.name)
    os.environ[DATABASE_URL.name] = url
    try:
        yield
    finally:
        del os.environ[DATABASE_URL.name]
        if before is not None:
            os.environ[DATABASE_URL.name] = before


@contextmanager
def open_database(*, checked: bool = True) -> Iterator[Database]:
    """Open the database, as the tenant of `--tenant` if given.

    Unless `checked` is false, raise SchemaError if its schema is not that of this version. After a change, warn if the
    dispatcher of mode sleep does not notice it.
    """
    database = Database(given_url() or local_run_url() or named_url)
    forget_changes()
    try:
        if checked:
            check_schema(database)
        tenant: str | None = click.get_current_context().meta.get(TENANT)
        yield TenantDatabase(database, tenant) if tenant else database
    finally:
        warn_of_sleep(database)
        database.close()
