"""What the verbs have in common: the connection's options, the output's, the filters', and the open database."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from minutehand.database import Database
from minutehand.database.tenants import TenantDatabase, is_tenant
from minutehand.schema.migrate import check_schema
from minutehand.settings import database_url, names_database

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

URL, DEBUG, TENANT = "minutehand.database_url", "minutehand.debug", "minutehand.tenant"


def _note(place: str, ctx: click.Context, _parameter: click.Parameter, value: Any) -> None:
    if value:
        ctx.meta[place] = value


def connection_options(command: Decorated) -> Decorated:
    """Add `--database-url` and `--debug`, which may stand before the verb or after it."""
    url = click.option(
        "--database-url", metavar="URL", expose_value=False, callback=partial(_note, URL),
        help="The Postgres to use; better said by DATABASE_URL, since others see your arguments.",
    )  # fmt: skip
    debug = click.option(
        "--debug",
        is_flag=True,
        expose_value=False,
        callback=partial(_note, DEBUG),
        help="Show an error's trace, too.",
    )
    return url(debug(command))


def tenant_option(command: Decorated) -> Decorated:
    """Add `--tenant`, under which no other tenant's jobs exist."""
    return click.option(
        "--tenant", metavar="NAME", expose_value=False, callback=_note_tenant,
        help="As this tenant, to whom no other's jobs exist.",
    )(command)  # fmt: skip


def _note_tenant(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None and not is_tenant(value):
        raise click.BadParameter("it is letters, digits and . - _ : @, and begins with one of the first two")
    _note(TENANT, ctx, parameter, value)


def output_option(*forms: str) -> Callable[[Decorated], Decorated]:
    """Add `-o`; the first form is the default."""
    return click.option(
        "-o",
        "--output",
        "form",
        type=click.Choice(forms),
        default=forms[0],
        show_default=True,
        help="The form of the output.",
    )


def filter_options(states: tuple[str, ...]) -> Callable[[Decorated], Decorated]:
    """Add the filters by which jobs are chosen."""

    def decorate(command: Decorated) -> Decorated:
        for option in (
            click.option(
                "--state",
                "states",
                type=click.Choice(states),
                multiple=True,
                help="Only in this state; repeatable.",
            ),
            click.option("--key", help="Only with this key."),
            click.option("--kind", help="Only of this kind."),
            click.option("--queue", help="Only of this queue."),
        ):
            command = option(command)
        return command

    return decorate


def tz_option(command: Decorated) -> Decorated:
    """Add `--tz`, without which a moment has to bring its offset."""
    return click.option(
        "--tz", metavar="ZONE", help="The zone of a moment without an offset, as Europe/Berlin."
    )(command)


def said_url() -> str | None:
    """Return the database's URL if an option says it; else the environment does."""
    url: str | None = click.get_current_context().meta.get(URL)
    return url


def url_of_local_run() -> str | None:
    """Return the address of the local run at work in this folder, if it is this user's own."""
    note = Path(".minutehand", "url")
    if names_database() or not note.exists() or note.stat().st_uid != os.geteuid():
        return None
    return note.read_text()


def debugging() -> bool:
    """Say whether `--debug` was given."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(DEBUG))


@contextmanager
def open_database(*, checked: bool = True) -> Iterator[Database]:
    """Open the database for a verb, whose schema has to be this code's unless the verb is there to see to that.

    With `--tenant` it is that tenant's.
    """
    database = Database(said_url() or url_of_local_run() or database_url)
    try:
        if checked:
            check_schema(database)
        tenant: str | None = click.get_current_context().meta.get(TENANT)
        yield TenantDatabase(database, tenant) if tenant else database
    finally:
        database.close()
