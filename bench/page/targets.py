"""The targets of the project, as ratios of minutehand's speed to another's in the same rounds."""

from dataclasses import dataclass

from bench.queues.systems import OURS
from bench.results import Measurement
from bench.statistics import ratio, ratios


@dataclass(frozen=True)
class Target:
    """minutehand is at least this many times as fast as a system in a case."""

    case: str
    system: str
    least: float

    def reached(self, cases: dict[str, Measurement]) -> float:
        """Return the measured ratio."""
        rates = cases[self.case].rates
        return ratio(rates[OURS], rates[self.system])

    def extremes(self, cases: dict[str, Measurement]) -> tuple[float, float]:
        """Return the lowest and the highest ratio of a round."""
        rates = cases[self.case].rates
        found = ratios(rates[OURS], rates[self.system])
        return min(found), max(found)


COMPARED = ("one", "batch", "bulk", "single", "backlog", "old-snapshot")
TARGETS = (
    Target("one", "bare", 0.8),
    Target("one", "pgqueuer", 1),
    Target("one", "graphile-worker", 1),
    Target("one", "pg-boss", 1),
    Target("one", "procrastinate", 1),
    Target("batch", "pg-boss", 1.2),
    Target("batch", "pgqueuer", 1.2),
    Target("batch", "pgmq", 0.6),
    Target("bulk", "table", 0.7),
    Target("bulk", "pgqueuer", 1),
    Target("bulk", "pg-boss", 1),
    Target("single", "table", 0.8),
)

# Jobs of one batch may take at most this many times as long as jobs without a batch.
BATCH_MOST = 1.3
# The most milliseconds of an offer among jobs of many groups.
OFFER_MOST = 25.0
# The most milliseconds of a tick's offers with 1,000 tenants, and how many times the plain time they may take with one
# limit.
TICK_OFFER_MOST, ONE_LIMIT_MOST = 25.0, 2.0
# The p99 of offers and claims during an archive may be at most this many times as long.
ARCHIVE_MOST = 1.2
# The most memory of a command of the pipeline in MB, with all of its processes, for any number of jobs.
MEMORY_MOST = 4096


def to_explain(cases: dict[str, Measurement]) -> list[tuple[str, str]]:
    """Return the cases and systems in which we are slower or miss a target, the greatest distance first."""
    least = {(target.case, target.system): target.least for target in TARGETS}
    pairs = [(case, system) for case in COMPARED for system in cases[case].rates if system != OURS]
    ratios = {(case, system): Target(case, system, 1).reached(cases) for case, system in pairs}
    return sorted(
        (pair for pair in pairs if ratios[pair] < max(1, least.get(pair, 1))), key=lambda pair: ratios[pair]
    )
