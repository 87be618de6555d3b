"""Migrate: bring a database's schema to this code's, in one transaction under a lock."""

from contextlib import closing
from dataclasses import replace
from datetime import datetime

from minutehand.database import Database
from minutehand.errors import NewerSchemaError, SchemaError
from minutehand.schema.steps import Step, ledger, migrations, script, steps

RECREATE = (
    "this database was created by a pre-release version of minutehand, which cannot be upgraded; recreate it:"
    " drop schema minutehand cascade, then run: minutehand migrate"
)


def migrate(database: Database | str) -> list[Step]:
    """Apply the pending steps in one transaction under a lock; return them.

    Concurrent calls run one after the other, and the later ones find nothing to do.
    """
    if isinstance(database, str):
        with closing(Database(database)) as opened:
            return migrate(opened)
    with database.transaction() as connection:
        connection.execute(ledger())
        steps = pending(database)
        for text in script(steps) if steps else ():
            connection.execute(text)
    return steps


def migration_sql(database: Database) -> str:
    """Return the SQL that `migrate` would run, for psql; empty if nothing is pending."""
    steps = pending(database)
    return "\n".join(["begin;", ledger(), *script(steps), "commit;\n"]) if steps else ""


def pending(database: Database) -> list[Step]:
    """Return the steps that the database lacks; the roles are among them if any other step is."""
    found = status(database)
    if all(step.applied for step in found):
        return []
    return [step for step in found if step.applied is None or step.name == "roles"]


def status(database: Database) -> list[Step]:
    """Return every step with the time when it was applied; raise SchemaError if the database has others."""
    applied, stored = _recorded(database)
    known = {step.version: step for step in migrations() if step.version is not None}
    if newer := sorted(set(applied) - set(known)):
        raise NewerSchemaError(
            f"the schema is at version {newer[-1]}, newer than this code, which knows {max(known)}:"
            " update minutehand"
        )
    for version, (checksum, _) in applied.items():
        if checksum != known[version].checksum:
            raise SchemaError(
                f"migration {version} ({known[version].name}) was changed after it was applied here"
            )
    if set(stored) - {step.name for step in steps()}:
        # The functions of a file that this code lacks are dropped with the next run, which applies the roles.
        stored.pop("roles")
    return [replace(step, applied=_applied(step, applied, stored)) for step in steps()]


def check_schema(database: Database) -> None:
    """Raise SchemaError, with what to do, unless the schema is exactly this code's."""
    missing = [step for step in status(database) if step.applied is None]
    count = sum(1 for step in missing if step.version is not None)
    if count == len(migrations()):
        raise SchemaError("the database has no minutehand schema yet; run: minutehand migrate")
    if count:
        migrations_older = "1 migration" if count == 1 else f"{count} migrations"
        raise SchemaError(f"the schema is {migrations_older} older than this code; run: minutehand migrate")
    if missing:
        names = ", ".join(step.name for step in missing)
        raise SchemaError(f"the schema differs from this code in {names}; run: minutehand migrate")


Recorded = tuple[str, datetime]


def _recorded(database: Database) -> tuple[dict[int, Recorded], dict[str, Recorded]]:
    """Return what the database has: its migrations by version, and its files by name."""
    (known,) = database.run("migration_known")
    if not known["migrations"]:
        return {}, {}
    if not known["files"]:
        raise SchemaError(RECREATE)
    return (
        {row["version"]: (row["checksum"], row["applied"]) for row in database.run("migration_status")},
        {row["name"]: (row["checksum"], row["applied"]) for row in database.run("migration_files")},
    )


def _applied(step: Step, applied: dict[int, Recorded], stored: dict[str, Recorded]) -> datetime | None:
    record = stored.get(step.name) if step.version is None else applied.get(step.version)
    return record[1] if record and record[0] == step.checksum else None
