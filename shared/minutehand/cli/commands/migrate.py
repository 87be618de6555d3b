"""`minutehand migrate`: update the database schema."""

from collections.abc import Sequence

import click

from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import put_json, put_table, say
from minutehand.cli.text import local
from minutehand.schema.migrate import Migration, status
from minutehand.schema.migrate import migrate as apply


@click.command()
@click.option("--plan", is_flag=True, help="List the migrations that would be applied, and change nothing.")
@click.option(
    "--status",
    "listed",
    is_flag=True,
    help="List all migrations and when each was applied, and change nothing.",
)
@output_option("table", "json")
@connection_options
def migrate(plan: bool, listed: bool, form: str) -> None:
    """Update the database schema to this version.

    All migrations run in one transaction, under a lock: concurrent runs are safe, and a failure leaves the schema as it
    was.

    \b
    Examples:
      minutehand migrate --plan
      minutehand migrate
    """
    if plan and listed:
        raise click.UsageError("use --plan or --status, not both")
    with open_database(checked=False) as database:
        found = status(database) if plan or listed else apply(database)
    if plan:
        found = [migration for migration in found if migration.applied is None]
    _put(found, form)
    if form == "table" and not listed:
        _conclude(len(found), plan)


def _put(found: Sequence[Migration], form: str) -> None:
    if form == "json":
        for m in found:
            put_json({"version": m.version, "name": m.name, "description": m.why, "applied": m.applied})
    elif found:
        rows = [[f"{m.version:04}", m.name, local(m.applied) if m.applied else "", m.why] for m in found]
        put_table(["version", "name", "applied", "description"], rows)


def _conclude(count: int, plan: bool) -> None:
    if count == 0:
        say("The schema is up to date.")
    elif plan:
        say(f"{_migrations(count)} to apply; run: minutehand migrate")
    else:
        say(f"{_migrations(count)} applied; the schema is up to date.")


def _migrations(count: int) -> str:
    return "1 migration" if count == 1 else f"{count} migrations"
