"""Table: every metric of minutehand, declared once.

CloudWatch, OpenTelemetry and Prometheus use these names and units; the table in docs/metrics.md is generated from them.
"""

from dataclasses import dataclass
from typing import Literal

MetricKind = Literal["counter", "gauge", "histogram"]
Unit = Literal["ms", "%", "1"]

# The dimensions of the metrics that are recorded for each job. CloudWatch charges for each combination, so there these
# metrics have only the dimension `service`, as all others.
OF_A_JOB = ("queue", "kind")
# Upper bounds of histograms in milliseconds, from an attempt that enqueues another job to a backlog of a day.
BOUNDS_MS = (
    *(5.0, 25.0, 100.0, 250.0, 1_000.0, 2_500.0, 10_000.0, 30_000.0, 60_000.0, 120_000.0),
    *(300_000.0, 900_000.0, 3_600_000.0, 86_400_000.0),
)


@dataclass(frozen=True)
class Metric:
    """A metric: its name, how values add up, the functions that write it, and what it means.

    A metric with `labels` is counted from the events of jobs, any other one from the figures of a tick, an invocation
    or a request. `in_cloudwatch` is false for what CloudWatch has in log lines only.
    """

    name: str
    kind: MetricKind
    source: str
    meaning: str
    watch: str = ""
    labels: tuple[str, ...] = ()
    in_cloudwatch: bool = True

    @property
    def unit(self) -> Unit:
        """The unit, which the end of the name tells."""
        if self.name.endswith("_ms"):
            return "ms"
        return "%" if self.name.endswith("_percent") else "1"


def _dispatcher(name: str, kind: MetricKind, meaning: str, watch: str = "") -> Metric:
    return Metric(name, kind, "dispatcher", meaning, watch)


def _worker(name: str, meaning: str, watch: str = "") -> Metric:
    return Metric(name, "counter", "worker", meaning, watch)


def _outcome(name: str, meaning: str, watch: str = "", source: str = "worker") -> Metric:
    return Metric(name, "counter", source, meaning, watch, OF_A_JOB)


def _enqueue(name: str, meaning: str) -> Metric:
    return Metric(name, "counter", "api", meaning, labels=OF_A_JOB)


def _duration(name: str, meaning: str, watch: str = "") -> Metric:
    return Metric(name, "histogram", "worker", meaning, watch, OF_A_JOB, in_cloudwatch=False)


METRICS = {
    metric.name: metric
    for metric in (
        _dispatcher(
            "oldest_due_ms", "gauge", "how long the oldest due job has been due", "more than two ticks"
        ),
        _dispatcher("due", "gauge", "due jobs, at most 1,000 of each queue, or as many as the capacity"),
        _dispatcher("offered", "counter", "offered jobs"),
        _dispatcher("invoked", "counter", "invocations of workers"),
        _dispatcher(
            "forwarded",
            "counter",
            "invocations of workers that were passed on to [other invocations](operating.md#large-fan-outs) of the "
            "dispatcher",
        ),
        _dispatcher(
            "refused",
            "counter",
            "invocations that Lambda rejected; their jobs are due again at once",
            "any: throttling, or a missing permission",
        ),
        _dispatcher(
            "lapsed",
            "counter",
            "jobs whose offer lapsed since the last tick",
            "over 10 % of `offered`: workers are throttled or fail to start",
        ),
        _dispatcher("throttled", "gauge", "queues whose budget is reduced because offers lapsed"),
        _dispatcher("tick_ms", "histogram", "duration of a tick", "half a minute"),
        _dispatcher("lag_ms", "histogram", "how late a tick started", "half a minute"),
        _dispatcher(
            "failed_steps", "counter", "steps of maintenance that failed; the log names the step", "any"
        ),
        _dispatcher("fired", "counter", "occurrences of schedules that enqueued a job"),
        _dispatcher("skipped", "counter", "occurrences that a schedule's overlap rule skipped"),
        _dispatcher("missed", "counter", "occurrences that are older than the schedule's catch-up allows"),
        _dispatcher(
            "refused_schedules",
            "counter",
            "schedules that could not fire; `minutehand doctor` names them",
            "any",
        ),
        _dispatcher(
            "failed_wakeups",
            "counter",
            "in the mode `sleep`, ticks that could not create the wake-up of the next one",
            "any: jobs may wait for the sweep",
        ),
        _dispatcher(
            "oldest_snapshot_ms",
            "gauge",
            "age of the oldest open transaction",
            "over a minute: it blocks vacuum",
        ),
        _dispatcher(
            "dead_rows_per_live", "gauge", "dead rows per live row in the table of live jobs", "over 10"
        ),
        _dispatcher("connections_percent", "gauge", "used share of the server's connections", "over 70"),
        _outcome(
            "expired",
            "jobs that had not started when their `expires` had passed",
            "any unexpected one",
            "dispatcher",
        ),
        _outcome(
            "dead",
            "jobs that exhausted their attempts or failed without retry",
            "any unexpected one",
            "dispatcher, worker",
        ),
        _worker("claimed", "claimed offers"),
        _worker("unclaimed", "offers that were gone when their worker started"),
        _worker("empty", "invocations that claimed nothing", "over 5 % of the invocations"),
        _worker("taken", "jobs that a worker took without an offer: a resident one takes all of its jobs"),
        _outcome("done", "attempts that succeeded"),
        _outcome("retrying", "attempts that failed and will be retried"),
        _outcome("snoozed", "attempts that the handler snoozed"),
        _outcome("cancelled", "attempts that ended because the job was cancelled"),
        _outcome("released", "jobs that were returned to the queue before their handler ran"),
        _outcome("superseded", "attempts that would be retried, but their key has a newer job"),
        _outcome(
            "lost",
            "finishes after another worker's claim",
            "over 1 % of the claims: handlers exceed their time limit",
        ),
        _duration("lateness_ms", "how late attempts started; its count is the number of attempts"),
        _duration("ran_ms", "how long attempts ran"),
        Metric("requests", "counter", "api", "requests"),
        _enqueue("created", "enqueued jobs"),
        _enqueue("replaced", "enqueued jobs that replaced the upcoming job of their key"),
        _enqueue("merged", "enqueued jobs that were merged into the upcoming job of their key"),
        _enqueue("ignored", "enqueued jobs that were ignored because their key has an upcoming job"),
        Metric("rejected", "counter", "api", "jobs that were rejected, and invalid requests to enqueue"),
    )
}
