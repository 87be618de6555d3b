"""The tables of the report."""

from minutehand_pipeline.report.table import declare

ENDED = """
jobs count jobs that ended
done count of them done
dead count of them dead
expired count of them expired
cancelled count of them cancelled
"""
PERCENTILES = """
p50 number 50th percentile, in seconds
p90 number 90th percentile, in seconds
p95 number 95th percentile, in seconds
p99 number 99th percentile, in seconds
"""
LATE = """
counted count jobs that were started
late count of them started later than the objective
within number share that was started in time
budget number number of jobs that may be late
burn number share that was late, divided by the share that may be late
"""
BY_QUEUE_AND_KIND = "queue text the queue; null is all\nkind text the kind; null is all"


def _prefixed(prefix: str, what: str) -> str:
    return "\n".join(f"{prefix}_{line} ({what})" for line in PERCENTILES.strip().splitlines())


WAIT, RUN = _prefixed("wait", "until the first attempt"), _prefixed("run", "of an attempt")

ALL = (
    declare(
        "hours",
        "Jobs that ended in each UTC hour.",
        "hour time start of the hour\nqueue text the queue\nkind text the kind",
        ENDED,
    ),
    declare(
        "throughput",
        "Jobs that ended on each UTC day.",
        "day day the UTC day\nqueue text the queue\nkind text the kind",
        ENDED,
    ),
    declare(
        "days",
        "One row for each day of the window.",
        "day day the UTC day",
        ENDED,
        WAIT,
        RUN,
        LATE,
        "cost number cost of run time\npartial flag the day was not over\nempty flag no job ended",
    ),
    declare(
        "durations",
        "How long jobs waited and attempts ran.",
        "what text wait: from run_at to the first attempt; run: an attempt",
        BY_QUEUE_AND_KIND,
        "count count jobs, or attempts",
        PERCENTILES,
        "most number the maximum, in seconds",
    ),
    declare(
        "retries",
        "How often jobs were retried.",
        """
        queue text the queue
        kind text the kind
        jobs count jobs that ended after an attempt
        attempts count attempts that ended in the window, without snoozed and released ones
        retries count attempts after a job's first
        retried count of them with a retry
        share number share of jobs with a retry
        most count highest number of attempts of a job
        lapsed count attempts whose worker never reported back
        snoozes count attempts that ended with a snooze
        released count jobs released before an attempt
        """,
    ),
    declare(
        "failures",
        "Errors of dead jobs, most frequent first; at most 50.",
        """
        fingerprint text identifies type and message
        type text type of the error
        message text message, with placeholders for the parts that vary
        deaths count jobs that died of the error
        attempts count attempts that failed with the error
        kinds texts up to five kinds with the error
        first time when the first job died
        last time when the last job died
        example text the last job that died
        """,
    ),
    declare("lateness", "How many jobs were started in time.", BY_QUEUE_AND_KIND, LATE),
    declare(
        "costs",
        "Cost of each kind's run time on Lambda.",
        """
        kind text the kind
        jobs count jobs that an attempt on Lambda ended
        attempts count attempts on Lambda
        requests number invocations; a shared invocation counts in parts
        billed_ms number milliseconds, each attempt rounded up
        gb_seconds number milliseconds times memory
        cost number cost, in the currency of the prices
        share number share of the total cost
        per_thousand number cost of a thousand jobs
        """,
    ),
    declare(
        "tenants",
        "Each tenant's use of the workers, and the waiting attributed to it; at most 50.",
        """
        tenant text the tenant; empty is none
        jobs count jobs that ended
        ran number seconds that attempts ran
        waited number seconds that jobs waited for their first attempt
        others_waited number seconds that other tenants waited, attributed to this one
        jobs_share number share of all jobs
        ran_share number share of all run time
        waited_share number share of all waiting
        others_waited_share number share of all attributed waiting
        """,
    ),
    declare(
        "weeks",
        "Week over week, Monday to Sunday.",
        "week day the Monday\ndays count complete days in the window\nwhole flag all seven days are complete",
        ENDED,
        WAIT,
        RUN,
        """
        counted count jobs that were started
        late count of them late
        within number share that was started in time
        cost number cost of run time
        jobs_change number change from the week before, if both weeks are complete
        dead_change number likewise
        wait_p95_change number likewise, in seconds
        run_p95_change number likewise, in seconds
        within_change number likewise, a share
        cost_change number likewise
        """,
    ),
    declare(
        "peaks",
        "The minutes with the most work.",
        """
        minute time start of the minute
        jobs count jobs that fell due
        attempts number attempts that they take
        work number seconds of one worker that they take
        busy number workers that they keep busy for a minute
        """,
    ),
    declare(
        "capacity",
        "The simulated settings and their monthly cost, the advised ones first; empty if there is too little data.",
        """
        mode text when jobs start: minute, prompt or sleep
        capacity count maximum number of offered or running jobs
        chunk count jobs offered to an invocation
        jobs_per_invocation count most jobs of an invocation, with those that it takes after its own
        worker_timeout number seconds that an invocation may take
        within number share of jobs started in time
        late number seconds within which the target share of the jobs started
        with_more number that share with 10 % more jobs; null if not simulated
        utilization number share of the capacity that the jobs use
        drain number seconds from the time the last job was due until all had started
        meets flag both shares reach the target, and the capacity is sufficient
        advised flag the report advises these settings
        invocations number invocations per month
        ticks number runs of the dispatcher per month
        jobs_cost number cost of the handlers' run time
        overhead_cost number cost of their invocations
        ticks_cost number cost of the dispatcher and its schedule
        cost number the sum of the three
        """,
    ),
)
TABLES = {table.name: table for table in ALL}
