"""Erase the private data of a job, a key's jobs or a tenant from the lake, and keep it out of later batches.

The rows remain, with everything that is not private, so counts and identities do not change. Spark is not needed.
"""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from minutehand.database import Database
from minutehand.operations import audit
from minutehand.schema.migrate import check_schema
from minutehand_pipeline.archive.ledger import fence, reconcile
from minutehand_pipeline.archive.lock import archive_lock
from minutehand_pipeline.archive.private import PRIVATE, SUBJECT, Subjects
from minutehand_pipeline.errors import InputError, LakeError
from minutehand_pipeline.lake import DAYS_AT_ONCE, Lake
from minutehand_pipeline.lake.readers import count_readers
from minutehand_pipeline.lake.summaries import delete_outdated
from minutehand_pipeline.queue.location import url_getter
from minutehand_pipeline.schemas import HOMES
from minutehand_pipeline.statements import run_statement

# Jobs per delta-rs statement, to bound its length.
CHUNK = 1000


@dataclass(frozen=True, kw_only=True)
class EraseConfig:
    """The lake, and the subject to erase: a job, a key (in one queue or in all) or a tenant."""

    lake: Lake
    job: UUID | None = None
    key: str | None = None
    queue: str | None = None
    tenant: str | None = None
    dry_run: bool = False
    actor: str | None = None
    location: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that there is exactly one subject."""
        if sum(each is not None for each in (self.job, self.key, self.tenant)) != 1:
            raise InputError("expected exactly one of --job, --key and --tenant")
        if self.queue is not None and self.key is None:
            raise InputError("--queue requires --key")
        if "" in (self.tenant, self.key, self.queue):
            raise InputError("tenant, key and queue must not be empty")


@dataclass(frozen=True, kw_only=True)
class EraseResult:
    """How many jobs matched, rows changed in the lake and left in the database (by home), and files deleted.

    `jobs` is 0 for a tenant. While `readers` reports are reading the lake, no file is deleted.
    """

    jobs: int
    erased: Mapping[str, int]
    left: Mapping[str, int]
    vacuumed: int = 0
    readers: int = 0


def erase(config: EraseConfig) -> EraseResult:
    """Erase the subject. An erasure that was interrupted continues when it is repeated.

    The database records the subject first. Then the lake's rows are changed; jobs come last, because a key finds its
    attempts and events through them. Finally the old files are deleted, unless a report is reading the lake. Raises
    BusyError if an archive is running, and LakeError if nothing was archived.
    """
    with closing(Database(url_getter(config.location))) as database:
        check_schema(database)
        if not any(config.lake.table(home).exists for home in HOMES.values()):
            raise LakeError(f"{config.lake.path} is not a lake: nothing was archived there")
        subjects = _subjects(database, config)
        parameters = {"jobs": list(subjects.jobs), "tenants": list(subjects.tenants)}
        left = run_statement(database, "erase_left", **parameters)[0]
        if config.dry_run:
            return EraseResult(jobs=len(subjects.jobs), erased=_count(config.lake, subjects), left=left)
        with archive_lock(database):
            # A lake of another queue is refused before anything is recorded. A run that reads the subjects before they
            # are recorded has taken its batch number before the fence, and cannot commit after it.
            for home in HOMES.values():
                reconcile(database, config.lake.table(home))
            _record(database, config, subjects)
            for home in HOMES.values():
                fence(database, config.lake.table(home))
            rows = {name: _erase(config.lake, name, subjects) for name in reversed(HOMES)}
            # A reader that starts later lists the new files.
            readers = count_readers(config.lake)
            delete_outdated(config.lake)
            vacuumed = 0 if readers else _vacuum(config.lake)
        erased = {name: rows[name] for name in HOMES}
        return EraseResult(
            jobs=len(subjects.jobs), erased=erased, left=left, vacuumed=vacuumed, readers=readers
        )


def _vacuum(lake: Lake) -> int:
    return sum(lake.table(home).vacuum(timedelta(0)) for home in HOMES.values())


def _subjects(database: Database, config: EraseConfig) -> Subjects:
    if config.tenant is not None:
        return Subjects(tenants=(config.tenant,))
    if config.job is not None:
        return Subjects(jobs=(str(config.job),))
    found = {row["id"] for row in run_statement(database, "erase_jobs", key=config.key, queue=config.queue)}
    return Subjects(jobs=tuple(sorted(found | set(_jobs_in_lake(config)))))


def _jobs_in_lake(config: EraseConfig) -> list[str]:
    table, where = config.lake.table(HOMES["jobs_done"]), {"key": config.key or ""}
    return table.find("id", where | ({"queue": config.queue} if config.queue is not None else {}))


def _record(database: Database, config: EraseConfig, subjects: Subjects) -> None:
    """Record the subject, and write an audit entry. The entry has no key, because a key may name a person."""
    with database.transaction():
        run_statement(database, "erase_note", jobs=list(subjects.jobs), tenants=list(subjects.tenants))
        audit.record(
            database, "erase", config.actor, config.job, of_tenant=config.tenant, jobs=len(subjects.jobs)
        )


def _erase(lake: Lake, name: str, subjects: Subjects) -> int:
    table = lake.table(HOMES[name])
    days = sorted({file.day for file in table.files()})
    groups = [days[first : first + DAYS_AT_ONCE] for first in range(0, len(days), DAYS_AT_ONCE)]
    return sum(
        table.erase(PRIVATE[name], where, group) for where in _conditions(name, subjects) for group in groups
    )


def _count(lake: Lake, subjects: Subjects) -> dict[str, int]:
    return {
        name: sum(
            lake.table(home).count_erasable(PRIVATE[name], where) for where in _conditions(name, subjects)
        )
        for name, home in HOMES.items()
    }


def _conditions(name: str, subjects: Subjects) -> list[dict[str, list[str]]]:
    if subjects.tenants:
        return [{"tenant": list(subjects.tenants)}]
    starts = range(0, len(subjects.jobs), CHUNK)
    return [{SUBJECT[name]: list(subjects.jobs[start : start + CHUNK])} for start in starts]
