"""The advice in words."""

import math
from datetime import UTC, datetime

from minutehand_pipeline.report import words
from minutehand_pipeline.report.advice.candidate import Candidate, Goal
from minutehand_pipeline.report.advice.sample import MOST_OF_HOUR, Sample
from minutehand_pipeline.report.advice.search import MARGIN, Advice
from minutehand_pipeline.report.workload import Workload

MIN_JOBS = 1000
SETTINGS = {
    "mode": "MINUTEHAND_MODE",
    "capacity": "MINUTEHAND_CAPACITY",
    "chunk": "MINUTEHAND_CHUNK",
    "jobs_per_invocation": "MINUTEHAND_JOBS_PER_INVOCATION",
}

ASSUMPTIONS = (
    "The next month's arrivals equal those of the window, scaled to a month. Besides the margin, growth is not "
    "included.",
    "Attempts take as long, and end, as recorded. Limits, rates, pauses and the turns of tenants are not included; the "
    "jobs of a group run one at a time.",
    "In mode minute the dispatcher ticks in the last millisecond of each minute, which is the worst for jobs that are "
    "due at full minutes. In mode sleep a wake-up starts its tick up to 60 s after its minute.",
    "A worker needs 10 ms to claim, or 55 ms in mode sleep, 5 ms to finish a job, and 400 ms for a cold start. Lambda "
    "starts an invocation after 50 ms. The worker function has the stated timeout and no reserved concurrency.",
    "A tick takes 150 ms at 512 MB, and 200 ms in mode sleep. In mode prompt, the time for which the dispatcher waits "
    "is included. The database is not; it can pause in mode sleep only.",
)


def no_advice_reason(workload: Workload, sample: Sample | None) -> str:
    """Return the reason why there is no advice, or an empty string."""
    jobs, minutes = int(workload.jobs.sum()), len(workload.jobs)
    if jobs < MIN_JOBS:
        found = f"{jobs:,} job{'s' * (jobs != 1)} in {minutes // 1440} day{'s' * (minutes != 1440)}"
        return f"No advice: it needs at least {MIN_JOBS:,} jobs, and the window has {found}."
    if not workload.work.sum():
        return "No advice: no attempt in the window has a run time."
    if sample is None:
        return (
            f"No advice: the busiest hour has more than {MOST_OF_HOUR:,} jobs, which a report does not simulate. Use "
            "minutehand pipeline simulate."
        )
    return ""


def advice_sentences(advice: Advice, goal: Goal, workload: Workload, currency: str = "$") -> list[str]:
    """Return the advice as sentences."""
    first, within = advice.first, words.seconds(goal.objective)
    wanted = f"{goal.target * 100:g} % of the jobs within {within}"
    settings = f"{_settings(first)}, and a worker timeout of {first.worker_timeout:g} s"
    if not advice.met:
        return [
            f"No policy starts {wanted}. The nearest is {settings}: there {goal.target * 100:g} % start within "
            f"{words.seconds(first.late)}, and {_percent(first.within)} % in time. Allow a longer "
            "objective or a lower target.",
            _simulated(advice.sample, workload),
        ]
    share = f"{_percent(first.within)} % of the jobs start within {within}"
    if first.with_more is not None:
        share += f", and with {_whole(MARGIN)} more jobs at resampled times {_percent(first.with_more)} %"
    return [
        f"Set {settings}. In the simulation, {share}. The jobs use {_whole(first.utilization)} of the capacity. It "
        f"costs {words.money(first.cost, currency)} a month.",
        _simulated(advice.sample, workload),
    ]


def _settings(candidate: Candidate) -> str:
    return ", ".join(f"{name}={getattr(candidate, field)}" for field, name in SETTINGS.items())


def _whole(share: float) -> str:
    return f"{share * 100:.0f} %"


def _percent(share: float) -> str:
    # Rounded down, so that a missed target never looks like one that is met.
    return f"{math.floor(share * 1000 + 1e-9) / 10:g}"


def _simulated(sample: Sample, workload: Workload) -> str:
    jobs = words.count(len(sample.arrivals), "job")
    if not sample.hours:
        return f"Simulated: all {jobs} of the window, with the rules of the dispatcher and the workers."
    since = datetime.fromtimestamp(sample.since, UTC)
    hours = words.count(sample.hours, "successive hour")
    return (
        f"Simulated: the busiest {hours}, from {since:%Y-%m-%d %H:%M} UTC, with {jobs} of "
        f"{words.count(float(workload.jobs.sum()))}, with the rules of the dispatcher and the workers."
    )
