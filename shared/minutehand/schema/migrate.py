"""Migrate: the schema's versions, forward only, each a file in `migrations/` whose first line says why."""

import hashlib
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import LiteralString

from minutehand.database import Database
from minutehand.errors import NewerSchemaError, SchemaError


@dataclass(frozen=True)
class Migration:
    """One step of the schema; `applied` is when this database took it, None if it has not."""

    version: int
    name: str
    text: LiteralString
    applied: datetime | None = None

    @property
    def why(self) -> str:
        """The first line of the file."""
        return self.text.splitlines()[0].removeprefix("-- ")

    @property
    def checksum(self) -> str:
        """The SHA-256 of the file, kept beside the version to notice a file that changed afterwards."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@cache
def migrations() -> tuple[Migration, ...]:
    """Return every migration that this code knows, in order."""
    found = sorted(
        (f for f in (files("minutehand") / "migrations").iterdir() if f.name.endswith(".sql")),
        key=lambda f: f.name,
    )
    return tuple(Migration(int(f.name[:4]), f.name[5:-4], f.read_text("utf-8")) for f in found)


def migrate(database: Database | str) -> list[Migration]:
    """Bring the schema up to this code, in one transaction under a lock; return what was new.

    Two at once are one after the other, and the second finds nothing to do.
    """
    if isinstance(database, str):
        with closing(Database(database)) as own:
            return migrate(own)
    with database.transaction() as connection:
        database.run("migration_lock")
        database.run("migration_table")
        pending = [migration for migration in status(database) if migration.applied is None]
        for migration in pending:
            connection.execute(migration.text)
            database.run(
                "migration_applied",
                version=migration.version,
                name=migration.name,
                checksum=migration.checksum,
            )
    return pending


def status(database: Database) -> list[Migration]:
    """Return every migration with the moment it was applied; raise SchemaError if the database has others."""
    applied = {}
    if database.run("migration_known")[0]["known"]:
        applied = {record["version"]: record for record in database.run("migration_status")}
    known = {migration.version: migration for migration in migrations()}
    if newer := sorted(set(applied) - set(known)):
        raise NewerSchemaError(
            f"the schema is at version {newer[-1]}, newer than this code, which knows {max(known)}: update minutehand"
        )
    for version, record in applied.items():
        if record["checksum"] != known[version].checksum:
            raise SchemaError(
                f"migration {version} ({known[version].name}) was changed after it had been applied here"
            )
    return [
        Migration(m.version, m.name, m.text, applied[m.version]["applied"] if m.version in applied else None)
        for m in migrations()
    ]


def check_schema(database: Database) -> None:
    """Raise SchemaError, with what to do, unless the schema is exactly this code's."""
    pending = [migration for migration in status(database) if migration.applied is None]
    if len(pending) == len(migrations()):
        raise SchemaError("the database has no minutehand schema yet; run: minutehand migrate")
    if pending:
        raise SchemaError(
            f"the schema is {len(pending)} migrations older than this code; run: minutehand migrate"
        )
