"""The checker of the simulation: it reads the table with its own connection, and imports nothing of the product.

It counts the minutes in which ticks and workers touch the database, and how late each due job is when a tick finds it.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg

MINUTE = timedelta(minutes=1)
LONG_AGO = datetime.min.replace(tzinfo=UTC)
# The next full minute, the five seconds within which no wake-up of the next minute is requested, and the time of a busy
# machine.
ON_TIME = timedelta(seconds=60 + 5 + 20)

# A function takes longer to start, so that a wake-up may fire this much before its job is due.
EARLY = timedelta(milliseconds=100)


def full(time: datetime) -> datetime:
    """Return the first full minute at or after a time."""
    begun = time.replace(second=0, microsecond=0)
    return begun if begun == time else begun + MINUTE


@dataclass
class Ledger:
    """What the simulation did: when jobs were planned, committed and allowed to start."""

    planned: set[datetime] = field(default_factory=set)
    committed: dict[UUID, datetime] = field(default_factory=dict)
    lost: list[datetime] = field(default_factory=list)
    # The queue, the begin and the end, and the last tick before the begin.
    pauses: list[tuple[str, datetime, datetime, datetime]] = field(default_factory=list)

    def plan(self, time: datetime, now: datetime) -> None:
        """Note that work is wanted at a time, whatever becomes of it."""
        needed = max(time, now)
        self.planned |= {full(needed), full(needed - EARLY), full(max(needed, now + timedelta(seconds=5)))}

    def wanted(self, queue: str, job: UUID, visible: datetime) -> datetime:
        """Return when a job could have started: due, committed and not paused."""
        wanted = max(visible, self.committed.get(job, visible))
        for name, begin, end, previous in self.pauses:
            # A pause may begin between the time of a job and its tick, which is late if a wake-up was lost.
            late = any(previous < minute <= begin for minute in self.lost)
            if name == queue and wanted < end and (late or begin <= wanted + ON_TIME):
                wanted = end
        return wanted


@dataclass(frozen=True)
class Late:
    """A job that a tick found too late, and the time of the tick before."""

    job: UUID
    visible: datetime
    wanted: datetime
    previous: datetime
    found: datetime

    def is_excused(self, lost: list[datetime]) -> bool:
        """Whether a wake-up was lost in the time without ticks, which was not longer than a sweep."""
        return any(self.previous < minute <= self.found for minute in lost)


@dataclass
class Checker:
    """The touched minutes by reason, and the lateness of jobs."""

    url: str
    ledger: Ledger
    touched: dict[datetime, str] = field(default_factory=dict)
    lateness: list[float] = field(default_factory=list)
    late: list["Late"] = field(default_factory=list)
    previous: datetime = LONG_AGO
    reason: str = ""
    ticks: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._connection = psycopg.connect(self.url, autocommit=True)

    def close(self) -> None:
        self._connection.close()

    def due(self, now: datetime, paused: set[str]) -> list[tuple[UUID, str, datetime]]:
        """Return the jobs and schedules that need this tick."""
        return [
            row
            for row in self._connection.execute(
                """select id, queue, visible from minutehand.jobs_live where visible <= %(now)s
                    union all
                   select null, 'schedule', wake from minutehand.schedules where not paused and wake <= %(now)s""",
                {"now": now},
            )
            if row[1] not in paused
        ]

    def visible(self, jobs: list[UUID]) -> list[datetime]:
        """Return when offers or leases of jobs end."""
        found = self._connection.execute(
            "select visible from minutehand.jobs_live where id = any (%s)", [jobs]
        )
        return [row[0] for row in found]

    def tick(self, now: datetime, name: str, paused: set[str], *, watched: bool) -> None:
        """Note a tick before it begins, and its reason."""
        due = self.due(now, paused)
        for job, queue, visible in due:
            wanted = self.ledger.wanted(queue, job, visible)
            self.lateness.append((now - wanted).total_seconds())
            if now - wanted > ON_TIME:
                self.late.append(Late(job, visible, wanted, self.previous, now))
        self.previous = now
        self.reason = self._reason(now, name, due=bool(due), watched=watched)
        self._note(now, self.reason)

    def work(self, now: datetime) -> None:
        """Note an invocation of a worker."""
        self._note(now, "due")

    def _reason(self, now: datetime, name: str, *, due: bool, watched: bool) -> str:
        minute = now.replace(second=0, microsecond=0)
        if due:
            return "due"
        if name == "sweep":
            return "sweep"
        if minute in self.ledger.planned:
            return "planned"
        if watched:
            return "open transaction"
        if name.startswith("watch"):
            return "watch"
        # A second tick in a minute, such as that of a wake-up during a watch, wakes no database.
        return self.touched.get(minute.astimezone(UTC), "unexplained")

    def _note(self, now: datetime, reason: str) -> None:
        self.ticks[reason] += 1
        minute = now.astimezone(UTC).replace(second=0, microsecond=0)
        if self.touched.get(minute) != "due":
            self.touched[minute] = reason

    def _awake(self) -> timedelta:
        """How long a database is awake that pauses five minutes after each touch."""
        awake, until = timedelta(), LONG_AGO
        for minute in sorted(self.touched):
            awake += minute + 6 * MINUTE - max(minute, until)
            until = minute + 6 * MINUTE
        return awake

    def unfinished(self) -> int:
        """The number of jobs that are due, offered or running."""
        found = self._connection.execute(
            """select count(*) from minutehand.jobs_live
                where visible <= clock_timestamp() or coalesce(offered, claimed) is not null"""
        ).fetchone()
        assert found
        return int(found[0])

    def absent(self) -> list[UUID]:
        """Committed jobs that are not in the table."""
        ids = list(self.ledger.committed)
        found = self._connection.execute("select id from minutehand.jobs where id = any (%s)", [ids])
        return sorted(set(ids) - {row[0] for row in found})

    def report(self, days: int) -> dict[str, float]:
        """The figures of the month."""
        minutes = Counter(self.touched.values())
        total = days * 24 * 60
        idle = total - minutes["due"]
        lateness = sorted(self.lateness)
        return {
            "minutes": total,
            **{f"minutes touched: {reason}": count for reason, count in sorted(minutes.items())},
            "idle minutes untouched in percent": round(
                100 * (1 - sum(n for r, n in minutes.items() if r != "due") / idle), 2
            ),
            "hours awake, if it pauses after five minutes": round(self._awake().total_seconds() / 3600, 1),
            "needs": len(lateness),
            "median lateness": round(lateness[len(lateness) // 2], 1),
            "99th percentile of lateness": round(lateness[len(lateness) * 99 // 100], 1),
            "greatest lateness": round(lateness[-1], 1),
            "later than a minute": len(self.late),
            "wake-ups lost": len(self.ledger.lost),
        }
