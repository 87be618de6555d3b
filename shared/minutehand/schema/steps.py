"""The steps of the schema: a migration or a file of functions or roles each, in the order of application."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from itertools import takewhile
from typing import LiteralString

# Domains, column defaults and triggers use these functions, so they precede the migrations.
FIRST = ("base", "triggers")
SENTENCE_END = re.compile(r"(?<=[.]) ")
DEFINITION = re.compile(r"^create or replace function minutehand\.(\w+)\(", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A migration, which has a version, or a file that is applied again when it changes.

    `applied` is None if this database does not have the step, or has an older text of the file.
    """

    name: str
    text: LiteralString
    version: int | None = None
    applied: datetime | None = None

    @property
    def label(self) -> str:
        """The name for people: a migration's with its version."""
        return self.name if self.version is None else f"{self.version:04} {self.name}"

    @property
    def reason(self) -> str:
        """The first sentence of the file, which may have several lines."""
        lines = takewhile(lambda line: line.startswith("-- "), self.text.splitlines())
        return SENTENCE_END.split(" ".join(line.removeprefix("-- ") for line in lines))[0]

    @property
    def checksum(self) -> str:
        """The SHA-256 of the file, stored in the database to detect changes."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def functions(self) -> list[str]:
        """The names of the database functions that the file defines."""
        return DEFINITION.findall(self.text)


@cache
def steps() -> tuple[Step, ...]:
    """Return every step in order: the functions that tables use, migrations, the other functions, roles."""
    functions = [Step(f"functions/{name}", _read("functions", name)) for name in _names("functions")]
    first = [step for step in functions if step.name.removeprefix("functions/") in FIRST]
    return (
        *first,
        *migrations(),
        *(step for step in functions if step not in first),
        Step("roles", _read("roles")),
    )


@cache
def migrations() -> tuple[Step, ...]:
    """Return the migrations in order."""
    return tuple(
        Step(name[5:], _read("migrations", name), version=int(name[:4])) for name in _names("migrations")
    )


def script(pending: Sequence[Step]) -> list[LiteralString]:
    """Return the SQL that applies the steps, to run in one transaction after `ledger.sql`."""
    *others, roles = pending
    return [
        _read("before"),
        *(step.text for step in others),
        _replaced(pending),
        roles.text,
        *(_record(step) for step in pending),
        "do $$ begin perform minutehand.make_days(); end $$;\n",
    ]


def ledger() -> LiteralString:
    """Return the SQL that takes the lock and creates the tables that record the steps."""
    return _read("ledger")


def _replaced(pending: Sequence[Step]) -> LiteralString:
    changed = [step for step in pending if step.version is None]
    lists = {
        "{names}": [name for step in changed for name in step.functions],
        "{changed}": [step.name for step in changed],
        "{files}": [step.name for step in steps() if step.version is None],
    }
    text = _read("replaced")
    for place, names in lists.items():
        text = text.replace(place, _array(names))
    return text


def _record(step: Step) -> LiteralString:
    # Names and checksums have no character that would have to be escaped.
    if step.version is not None:
        return (
            "insert into minutehand.migrations (version, name, checksum)\n"
            f"values ({step.version}, '{step.name}', '{step.checksum}');\n"
        )
    return (
        "insert into minutehand.schema_files (name, checksum, functions)\n"
        f"values ('{step.name}', '{step.checksum}', {_array(step.functions)})\n"
        "    on conflict (name) do update\n"
        "   set checksum = excluded.checksum, functions = excluded.functions, applied = clock_timestamp();\n"
    )


def _array(names: Sequence[str]) -> LiteralString:
    return f"'{{{','.join(names)}}}'::text[]"


def _names(folder: str) -> list[str]:
    found = (files("minutehand") / "schema" / folder).iterdir()
    return sorted(file.name.removesuffix(".sql") for file in found if file.name.endswith(".sql"))


def _read(*path: str) -> LiteralString:
    # As constant as a literal: it ships with the code.
    return (files("minutehand") / "schema").joinpath(*path[:-1], f"{path[-1]}.sql").read_text("utf-8")
