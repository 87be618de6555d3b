"""The time of an offer with many groups, each of which runs one job at a time, and with tenants whose jobs have groups.

Each group has two jobs, and some groups run one of them. The jobs of an offer end before the next offer.
`python -m bench --cases groups` runs it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from statistics import mean, median
from time import perf_counter

from bench.measure import Measured
from bench.page.targets import OFFER_MOST
from bench.queues.usage import backend_seconds
from bench.results import Offers
from bench.server import DATABASE, fresh, migrated
from minutehand.database import Database
from minutehand.offer import offer
from minutehand.operations.controls import limit

GROUPS, TENANTS, SIZE = 100_000, 500, 100
# One group of so many runs a job.
RUNNING = 100
ROUNDS, OFFERS, UNMEASURED = 5, 15, 5
FILL = """
insert into minutehand.jobs_live (kind, tenant, "group", run_at, visible, ack, claimed, attempts)
select 'echo', case when %(tenants)s > 0 then 'tenant' || n %% %(tenants)s else '' end, 'group' || n, run_at,
       case when runs then now() + interval '1 day' else run_at end, case when runs then gen_random_uuid() end,
       case when runs then now() end, case when runs then 1 else 0 end
  from (select n, moment + job * interval '1 minute' as run_at, job = 0 and n %% %(running)s = 0 as runs
          from (select n, now() - interval '1 hour' * (1 + random()) as moment
                  from generate_series(1, %(groups)s) n) made
         cross join generate_series(0, 1) job) jobs
"""
END = "delete from minutehand.jobs_live where offered is not null"


@dataclass(frozen=True)
class Case:
    """What an offer has to respect."""

    in_order: bool = False
    tenants: int = 0


CASES = {
    "groups": Case(),
    "groups in order": Case(in_order=True),
    f"{TENANTS} tenants, groups in order": Case(in_order=True, tenants=TENANTS),
}


class Filled:
    """A database with the jobs of a case; a second session ends them, so that its work is not measured."""

    def __init__(self, url: str) -> None:
        """Connect both sessions."""
        self._database, self._other = Database(url), Database(url)
        self._capacity = 0

    def fill(self, case: Case, groups: int) -> None:
        """Limit the groups, add their jobs, and make the first offers."""
        self._capacity = groups // RUNNING + SIZE
        limit(self._database, 1, per="group", in_order=case.in_order or None)
        self._other.connection.execute(FILL, {"groups": groups, "tenants": case.tenants, "running": RUNNING})
        self.measure(UNMEASURED)
        self._other.connection.execute("vacuum analyze")

    def measure(self, count: int) -> list[float | None]:
        """Return the mean milliseconds of some offers: elapsed, and processor time of the server."""
        (record,) = self._database.connection.execute("select pg_backend_pid()").fetchall()
        before, elapsed = backend_seconds(record[0]), []
        for _ in range(count):
            began = perf_counter()
            offered = offer(self._database, self._capacity, timedelta(minutes=2))
            elapsed.append(perf_counter() - began)
            if not offered.offers:
                raise RuntimeError("an offer found no job, so its time means nothing")
            self._other.connection.execute(END)
        after = backend_seconds(record[0])
        busy = None if before is None or after is None else round((after - before) / count * 1000, 2)
        return [round(mean(elapsed) * 1000, 2), busy]

    def close(self) -> None:
        """Close both sessions."""
        self._database.close()
        self._other.close()


def measure(server: str, groups: int = GROUPS, commit: str = "", offers: int = OFFERS) -> Offers:
    """Measure the cases in interleaved rounds."""
    with filled(server, groups) as cases:
        rounds = [{name: case.measure(offers) for name, case in cases.items()} for _ in range(ROUNDS)]
    milliseconds = {name: [each[name] for each in rounds] for name in cases}
    return Offers(commit, groups, 2 * groups, SIZE, milliseconds)


@contextmanager
def filled(server: str, groups: int) -> Iterator[Mapping[str, Filled]]:
    """Yield a database for each case."""
    migrated(server)
    with ExitStack() as stack:
        cases = {}
        for number, (name, case) in enumerate(CASES.items()):
            cases[name] = Filled(fresh(server, f"{DATABASE}_{number}", DATABASE))
            stack.callback(cases[name].close)
            cases[name].fill(case, groups)
        yield cases


def lines(offers: Offers) -> list[Measured]:
    """Return the offers as lines of a table."""
    return [
        Measured(
            f"offer of {offers.size}, {offers.groups:,} groups: {name}",
            text(taken, 0),
            text(taken, 1),
            aim=f"{OFFER_MOST:.0f} ms",
        )
        for name, taken in offers.milliseconds.items()
    ]


def text(rounds: Sequence[Sequence[float | None]], side: int) -> str:
    """Return the median of the rounds: elapsed (0) or processor time (1)."""
    values = [value for each in rounds if (value := each[side]) is not None]
    return f"{median(values):.1f} ms" + (" of CPU" if side else "") if values else ""
