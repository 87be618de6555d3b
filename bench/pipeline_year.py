"""A year of finished jobs of many tenants: what the pipeline's commands take, with their start-up, and their memory."""

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import psycopg

from bench import commands
from bench.measure import Measured
from bench.page.targets import MEMORY_MOST
from bench.queues.plan import SCREEN
from bench.results import Step, Year

JOBS, DAYS, TENANTS = 50_000_000, 365, 1_000
# Attempts are kept for a shorter time than jobs.
ATTEMPT_DAYS = 28
# Long ago, so that all days are over.
FIRST = date(2025, 1, 1)
# Sessions that write the jobs.
WRITERS = 2
ERASED, CAPACITY = "tenant-7", "200"
# No queue works at the same time, for which the archive would read more slowly.
READERS = "2"

# One job in twenty needs two attempts, and one in fifty is dead. An attempt takes one to three seconds.
FILL = (
    """
insert into minutehand.jobs_done
       (id, ack, enqueued, run_at, visible, claimed, deleted, attempts, failed, queue, kind, payload, error, tenant,
        version)
select md5('job' || %(day)s || n)::uuid, md5('ack' || %(day)s || n)::uuid, at - interval '70 s',
       at - interval '70 s', at, at - interval '1 s' * (1 + n %% 3), at, case when n %% 20 = 5 then 2 else 1 end,
       n %% 50 = 7, (array['default', 'mail', 'reports'])[1 + n %% 3],
       (array['email', 'thumb', 'invoice', 'sync', 'report'])[1 + n %% 5], json_build_object('n', n),
       case when n %% 50 = 7 then '{"type": "ValueError", "message": "no", "trace": ""}'::jsonb end,
       'tenant-' || n %% %(tenants)s, 'v1'
  from (select n, %(since)s::timestamptz + (n - 0.5) * interval '1 day' / %(jobs)s as at
          from generate_series(1, %(jobs)s) n) numbers
""",
    """
insert into minutehand.attempts
       (job, attempt, started, ended, memory_mb, tenant, queue, kind, outcome, worker, request, version, error)
select id, a, ended - (deleted - claimed), ended, 512, tenant, queue, kind,
       case when a < attempts then 'retrying' when failed then 'dead' else 'done' end, 'worker',
       md5(id::text || a), version,
       case when a < attempts or failed then '{"type": "ValueError", "message": "no", "trace": ""}'::jsonb end
  from minutehand.jobs_done, generate_series(1, attempts) a,
       lateral (select deleted - interval '60 s' * (attempts - a) as ended) times
 where deleted >= %(since)s and deleted < %(since)s::timestamptz + interval '1 day'
""",
)


def measure(url: str, jobs: int, days: int, commit: str = "") -> Year:
    """Write the jobs to the database, and measure each command once."""
    fill(url, jobs, days)
    with tempfile.TemporaryDirectory(prefix="minutehand-bench-") as folder:
        return year(url, Path(folder), jobs, days, commit)


def fill(url: str, jobs: int, days: int) -> None:
    """Write this number of finished jobs, evenly over the days, and the attempts of the last four weeks."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select minutehand.make_days(%s, %s)", [days + 1, FIRST - timedelta(days=1)])

    def write(day: int) -> None:
        since = datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC) + timedelta(days=day)
        values = {"day": f"{day}/", "since": since, "jobs": jobs // days, "tenants": TENANTS}
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in FILL if day >= days - ATTEMPT_DAYS else FILL[:1]:
                connection.execute(statement, values)

    with ThreadPoolExecutor(WRITERS) as writers:
        for written, _ in enumerate(writers.map(write, range(days)), start=1):
            if written % 10 == 0 or written == days:
                SCREEN.print(f"{written} of {days} days are written")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum analyze minutehand.jobs_done")
        connection.execute("vacuum analyze minutehand.attempts")


def year(url: str, folder: Path, jobs: int, days: int, commit: str = "") -> Year:
    """Measure the commands on a database that has the jobs; the lake and the report are written to the folder."""
    os.environ["DATABASE_URL"] = url
    with psycopg.connect(url, autocommit=True) as connection:
        counted = connection.execute("select count(*) from minutehand.attempts").fetchone()
    assert counted is not None
    lake, report = folder / "lake", ("--since", FIRST.isoformat(), "--out", str(folder / "report"))
    steps = {"archive": _step("archive", str(lake), "--wait", "10m", "--readers", READERS)}
    size = sum(file.stat().st_size for file in lake.rglob("*") if file.is_file())
    steps["report"] = _step("report", str(lake), *report)
    steps["report, no new day"] = _step("report", str(lake), *report)
    steps["erase a tenant"] = _step("erase", str(lake), "--tenant", ERASED)
    steps["simulate"] = _step("simulate", str(lake), "--capacity", CAPACITY)
    load = round(os.getloadavg()[2], 1)
    return Year(commit, jobs // days * days, counted[0], days, TENANTS, load, round(size / 2**20), steps)


def _step(*words: str) -> Step:
    """Run a command."""
    SCREEN.print(f"{words[0]} is running")
    used = commands.run(*words)
    SCREEN.print(f"{words[0]}: {used}")
    return Step(round(used.seconds, 1), round(used.processor, 1), used.memory // 2**20, used.java // 2**20)


def lines(measured: Year) -> list[Measured]:
    """Return a line for each command."""
    return [
        Measured(
            f"{name}: {measured.jobs:,} jobs and {measured.attempts:,} attempts",
            f"{step.seconds:,.0f} s ({step.processor:,.0f} s of CPU)",
            ratio=f"{step.memory:,} MB",
            aim=f"{MEMORY_MOST:,} MB",
        )
        for name, step in measured.steps.items()
    ]
