"""Erase: null what is private of a job, a key's jobs or a tenant in the lake, and let no later batch bring it back.

The rows stay, with what says how the queue did, so that counts and identities are what they were. It wants no Spark.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from minutehand import audit
from minutehand.database import Database
from minutehand.schema.migrate import check_schema
from minutehand_pipeline.archive.ledger import fence
from minutehand_pipeline.archive.lock import locked
from minutehand_pipeline.archive.private import PRIVATE, SUBJECT, Erased
from minutehand_pipeline.errors import InputError, LakeError
from minutehand_pipeline.lake import Lake
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.sources.place import place_of
from minutehand_pipeline.statements import run as send

AT_ONCE = 1000  # jobs, so that no statement of delta-rs grows without end


@dataclass(frozen=True, kw_only=True)
class EraseConfig:
    """Whose data is to be erased from which lake: a job's, a key's (in one queue or in all), or a tenant's."""

    lake: Lake
    job: UUID | None = None
    key: str | None = None
    queue: str | None = None
    tenant: str | None = None
    dry_run: bool = False
    who: str | None = None
    place: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what names nobody, or two."""
        if sum(each is not None for each in (self.job, self.key, self.tenant)) != 1:
            raise InputError("say one of --job, --key and --tenant")
        if self.queue is not None and self.key is None:
            raise InputError("a queue is said with a key")
        if "" in (self.tenant, self.key, self.queue):
            raise InputError("a tenant, a key and a queue have a name")


@dataclass(frozen=True, kw_only=True)
class EraseResult:
    """What was done: rows changed in the lake, the subject's rows left in Postgres, by home, and files deleted."""

    jobs: int  # how many were found, where it is not a tenant
    erased: Mapping[str, int]
    left: Mapping[str, int]
    vacuumed: int = 0


def run(config: EraseConfig) -> EraseResult:
    """Erase; said again after it was killed, it goes on.

    First Postgres notes who is erased, then the lake's rows are changed, the jobs last, since by them a key finds the
    others; then the files that had them are deleted. Raises BusyError while an archive runs, and LakeError where
    nothing was archived.
    """
    with closing(Database(place_of(config.place))) as database:
        check_schema(database)
        if not any(config.lake.table(home).exists for home in HOMES.values()):
            raise LakeError(f"{config.lake.path} is no lake: nothing was archived there")
        subject = _subject(database, config)
        left = send(database, "erase_left", jobs=list(subject.jobs), tenants=list(subject.tenants))[0]
        if config.dry_run:
            return EraseResult(jobs=len(subject.jobs), erased=_rows(config, subject), left=left)
        with locked(database):
            for home in HOMES.values():
                fence(database, config.lake.table(home))
            _note(database, config, subject)
            rows = {name: _erase(config.lake, name, subject) for name in reversed(HOMES)}
            erased = {name: rows[name] for name in HOMES}
            vacuumed = sum(config.lake.table(home).vacuum(timedelta(0)) for home in HOMES.values())
        return EraseResult(jobs=len(subject.jobs), erased=erased, left=left, vacuumed=vacuumed)


def _subject(database: Database, config: EraseConfig) -> Erased:
    if config.tenant is not None:
        return Erased(tenants=(config.tenant,))
    if config.job is not None:
        return Erased(jobs=(str(config.job),))
    found = {row["id"] for row in send(database, "erase_jobs", key=config.key, queue=config.queue)}
    return Erased(jobs=tuple(sorted(found | set(_in_the_lake(config)))))


def _in_the_lake(config: EraseConfig) -> list[str]:
    table, where = config.lake.table(HOMES["jobs_done"]), {"key": config.key or ""}
    return table.find("id", where | ({"queue": config.queue} if config.queue is not None else {}))


def _note(database: Database, config: EraseConfig, subject: Erased) -> None:
    """Write who is erased, and into the audit trail that it was done; a key may name a person, and is not told."""
    with database.transaction():
        send(database, "erase_note", jobs=list(subject.jobs), tenants=list(subject.tenants))
        audit.record(
            database, "erase", config.who, config.job, of_tenant=config.tenant, jobs=len(subject.jobs)
        )


def _erase(lake: Lake, name: str, subject: Erased) -> int:
    table = lake.table(HOMES[name])
    return sum(table.erase(PRIVATE[name], where) for where in _wheres(name, subject))


def _rows(config: EraseConfig, subject: Erased) -> dict[str, int]:
    return {
        name: sum(
            config.lake.table(home).would_erase(PRIVATE[name], where) for where in _wheres(name, subject)
        )
        for name, home in HOMES.items()
    }


def _wheres(name: str, subject: Erased) -> list[dict[str, list[str]]]:
    if subject.tenants:
        return [{"tenant": list(subject.tenants)}]
    chunks = range(0, len(subject.jobs), AT_ONCE)
    return [{SUBJECT[name]: list(subject.jobs[first : first + AT_ONCE])} for first in chunks]
