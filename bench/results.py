"""The published results: bench/results.json, from which docs/performance.md is written.

This module imports only the standard library, because the plots are drawn in the environment of the documentation.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

FILE = Path(__file__).parent / "results.json"


@dataclass(frozen=True)
class Measurement:
    """The runs of a case by the name of the system.

    `commit` is the time of the measured commit, with the processor and the Python, which older results may lack.
    `rates` are jobs per second, one for each round.
    `costs` are medians for a job: microseconds of processor time of the `client` and of the `server`, and bytes of
    `wal`.
    """

    commit: str
    jobs: int
    workers: int
    rates: dict[str, list[float]]
    costs: dict[str, dict[str, float | None]]


@dataclass(frozen=True)
class Ticks:
    """The median milliseconds of a tick, and of its offers, by the case and the number of due jobs."""

    commit: str = ""
    milliseconds: dict[str, dict[str, float]] = field(default_factory=dict)
    offers: dict[str, dict[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Archives:
    """Runs of an archive of `rows` while a worker is busy, by the number of readers or `adaptive`.

    `rates` are rows per second, one for each round. `offers` and `claims` are the p99 in milliseconds during the
    archive and before it.
    """

    commit: str = ""
    rows: int = 0
    rates: dict[str, list[float]] = field(default_factory=dict)
    offers: dict[str, list[list[float]]] = field(default_factory=dict)
    claims: dict[str, list[list[float]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Command:
    """The seconds and the processor seconds of a command, with its start-up.

    `reference` are the seconds of DuckDB for a part of the work, `target` the aim.
    """

    seconds: float
    processor: float
    reference: float | None = None
    target: float | None = None


@dataclass(frozen=True)
class Commands:
    """Commands of the pipeline by what they did. `load` is the average load of the machine at the end."""

    commit: str = ""
    load: float = 0
    lines: dict[str, Command] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """A command on the jobs of a year: its seconds and processor seconds, and the highest memory of all its processes.

    `memory` is in MB. `java` is the part that Spark used at the highest, which need not be at the same time.
    """

    seconds: float
    processor: float
    memory: int
    java: int


@dataclass(frozen=True)
class Year:
    """Commands of the pipeline on the finished jobs of some days and tenants, and on their attempts.

    `load` is how many programs used the machine at the same time, on average of the last 15 minutes. `lake` is the size
    of the archive in MB.
    """

    commit: str = ""
    jobs: int = 0
    attempts: int = 0
    days: int = 0
    tenants: int = 0
    load: float = 0
    lake: int = 0
    steps: dict[str, Step] = field(default_factory=dict)


@dataclass(frozen=True)
class Executors:
    """The seconds of an archive and of a report by the number of Spark's executors, of one core each.

    `rows` is the number of archived rows: jobs, their attempts and their events.
    """

    commit: str = ""
    jobs: int = 0
    rows: int = 0
    seconds: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Steady:
    """The latency of a system under a steady load while an old snapshot is open, and without one.

    `rate` is in jobs per second, for `workers` that claim up to `batch` jobs; a run took `seconds`. `operations` has,
    by the operation, one list for each window of `window` seconds: p50 without and with the snapshot, and p99 without
    and with it, in milliseconds. It is None if a run has no sample in the window.
    """

    commit: str
    seconds: int
    rate: int
    workers: int
    batch: int
    window: int
    operations: dict[str, list[list[float] | None]]

    @property
    def terms(self) -> tuple[int, ...]:
        """The load and the duration. Only runs with the same ones can be compared."""
        return (self.seconds, self.rate, self.workers, self.batch, self.window)


@dataclass(frozen=True)
class Offers:
    """Offers of up to `size` jobs among jobs of many groups, each of which runs one at a time.

    `milliseconds` are the mean of an offer by the case, for each round: elapsed, and processor time of the server, or
    None if it is elsewhere.
    """

    commit: str = ""
    groups: int = 0
    jobs: int = 0
    size: int = 0
    milliseconds: dict[str, list[list[float | None]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Further:
    """Jobs of `seconds` each in the mode `minute`, with more jobs due than `minutes` ticks of this capacity offer.

    `rates` are the finished jobs a minute by the most jobs of an invocation.
    """

    commit: str = ""
    capacity: int = 0
    seconds: float = 0
    minutes: int = 0
    rates: dict[str, float] = field(default_factory=dict)

    def possible(self, most: str) -> float:
        """Return the highest rate: of a capacity that is never idle, or of one job for each offer of a tick."""
        return self.capacity if most == "1" else self.capacity * 60 / self.seconds


@dataclass(frozen=True)
class Waits:
    """The seconds that jobs waited in the mode `prompt`, which arrived at random and took `seconds` each.

    `load` is the part of the capacity that they used. `waits` are the median, p95 and p99: as measured, as the best for
    the same times of arrival, and by the theory.
    """

    commit: str = ""
    capacity: int = 0
    load: float = 0
    seconds: float = 0
    jobs: int = 0
    waits: dict[str, list[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """All published results. `machine` and `versions` are those of the last measurement."""

    machine: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    cases: dict[str, Measurement] = field(default_factory=dict)
    ticks: Ticks = field(default_factory=Ticks)
    archives: Archives = field(default_factory=Archives)
    commands: Commands = field(default_factory=Commands)
    year: Year = field(default_factory=Year)
    executors: Executors = field(default_factory=Executors)
    snapshots: dict[str, Steady] = field(default_factory=dict)
    offers: Offers = field(default_factory=Offers)
    further: Further = field(default_factory=Further)
    waits: Waits = field(default_factory=Waits)


def load(file: Path = FILE) -> Results:
    """Read the results. Raise TypeError if a field is unknown."""
    if not file.exists():
        return Results()
    read = json.loads(file.read_text("utf-8"))
    cases = {name: Measurement(**case) for name, case in read.pop("cases").items()}
    ticks, archives = Ticks(**read.pop("ticks")), Archives(**read.pop("archives", {}))
    commands = read.pop("commands", {})
    lines = {name: Command(**line) for name, line in commands.pop("lines", {}).items()}
    year = read.pop("year", {})
    steps = {name: Step(**step) for name, step in year.pop("steps", {}).items()}
    executors = Executors(**read.pop("executors", {}))
    snapshots = {title: Steady(**runs) for title, runs in read.pop("snapshots", {}).items()}
    offers, further = Offers(**read.pop("offers", {})), Further(**read.pop("further", {}))
    waits = Waits(**read.pop("waits", {}))
    return Results(
        cases=cases,
        ticks=ticks,
        archives=archives,
        commands=Commands(**commands, lines=lines),
        year=Year(**year, steps=steps),
        executors=executors,
        snapshots=snapshots,
        offers=offers,
        further=further,
        waits=waits,
        **read,
    )


def save(results: Results, file: Path = FILE) -> None:
    """Write the results, in a form in which changes are readable."""
    text = json.dumps(asdict(results), indent=1, sort_keys=True)
    file.write_text(text + "\n", "utf-8")
