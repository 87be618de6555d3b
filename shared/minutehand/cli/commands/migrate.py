"""`minutehand migrate`: apply the pending steps of the schema, or show them."""

from collections.abc import Sequence

import click

from minutehand.cli.options import connection_options, open_database, output_option
from minutehand.cli.output import print_message, put_json, put_table
from minutehand.cli.text import local
from minutehand.schema.migrate import migrate as apply
from minutehand.schema.migrate import migration_sql, pending, status
from minutehand.schema.steps import Step


@click.command()
@click.option("--plan", is_flag=True, help="List the pending changes without applying them.")
@click.option(
    "--status", "listed", is_flag=True, help="Change nothing; list every step and when it was applied."
)
@click.option("--sql", is_flag=True, help="Change nothing; print the SQL that would run, for psql.")
@output_option("table", "json")
@connection_options
def migrate(plan: bool, listed: bool, sql: bool, form: str) -> None:
    """Update the database schema to this version.

    Applies new migrations, changed functions, and roles, in one transaction and under a lock: concurrent
    runs are safe, and a failure leaves the schema unchanged.

    \b
    Examples:
      minutehand migrate --plan
      minutehand migrate --sql | psql "$DATABASE_URL"
      minutehand migrate
    """
    if plan + listed + sql > 1:
        raise click.UsageError("expected at most one of --plan, --status and --sql")
    with open_database(checked=False) as database:
        if sql:
            click.echo(migration_sql(database), nl=False)
            return
        steps = status(database) if listed else pending(database) if plan else apply(database)
    _put(steps, form)
    if form == "table" and not listed:
        _conclude(len(steps), plan)


def _put(steps: Sequence[Step], form: str) -> None:
    if form == "json":
        for s in steps:
            put_json({"version": s.version, "name": s.name, "reason": s.reason, "applied": s.applied})
    elif steps:
        put_table(
            ["step", "applied", "reason"],
            [[s.label, local(s.applied) if s.applied else "", s.reason] for s in steps],
        )


def _conclude(count: int, plan: bool) -> None:
    if count == 0:
        print_message("The schema is up to date.")
    elif plan:
        print_message(f"{_steps(count)} to apply; run: minutehand migrate")
    else:
        print_message(f"{_steps(count)} applied; the schema is up to date.")


def _steps(count: int) -> str:
    return "1 step" if count == 1 else f"{count} steps"
