"""The report's tables, once: their columns, types and meanings, which the files, the page and the docs all follow."""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

COUNT, NUMBER, TEXT, DAY, MOMENT, TRUTH = (
    T.LongType(),
    T.DoubleType(),
    T.StringType(),
    T.DateType(),
    T.TimestampType(),
    T.BooleanType(),
)

TEXTS = T.ArrayType(TEXT)

# What JSON has for a type, as JSON Schema says it.
JSON_TYPES: dict[T.DataType, dict[str, Any]] = {
    COUNT: {"type": ["integer", "null"]},
    NUMBER: {"type": ["number", "null"]},
    TEXT: {"type": ["string", "null"]},
    DAY: {"type": ["string", "null"], "format": "date"},
    MOMENT: {"type": ["string", "null"], "format": "date-time"},
    TRUTH: {"type": ["boolean", "null"]},
    TEXTS: {"type": ["array", "null"], "items": {"type": "string"}},
}


@dataclass(frozen=True)
class Column:
    """A column, its type, and what it means."""

    name: str
    type: T.DataType
    meaning: str


@dataclass(frozen=True)
class Table:
    """A table of the report, by the name of its files."""

    name: str
    meaning: str
    columns: tuple[Column, ...]

    def of(self, frame: DataFrame) -> DataFrame:
        """Return the frame with exactly these columns, of these types."""
        return frame.select(*(F.col(each.name).cast(each.type).alias(each.name) for each in self.columns))

    def spark_schema(self) -> T.StructType:
        """Return what Spark calls these columns."""
        return T.StructType([T.StructField(each.name, each.type) for each in self.columns])

    def json_schema(self) -> dict[str, Any]:
        """Return what the table's JSON file holds to, as a JSON Schema."""
        properties = {
            each.name: {**JSON_TYPES[each.type], "description": each.meaning} for each in self.columns
        }
        row = {
            "type": "object",
            "properties": properties,
            "required": [*properties],
            "additionalProperties": False,
        }
        return {"description": self.meaning, "type": "array", "items": row}


def _columns(text: str) -> tuple[Column, ...]:
    types = {"count": COUNT, "number": NUMBER, "text": TEXT, "day": DAY, "moment": MOMENT, "truth": TRUTH,
             "texts": TEXTS}  # fmt: skip
    lines = (line.split(maxsplit=2) for line in text.strip().splitlines())
    return tuple(Column(name, types[kind], meaning) for name, kind, meaning in lines)


ENDED = """
jobs count jobs that ended
done count of them done
dead count of them dead
cancelled count of them cancelled
"""

SPREAD = """
p50 number seconds that half of them took at most
p90 number seconds that 90 in a hundred took at most
p95 number seconds that 95 in a hundred took at most
p99 number seconds that 99 in a hundred took at most
"""

JUDGED = """
counted count jobs that were begun
late count of them begun later than the objective
within number share that was in time
budget number how many were allowed to be late
burn number share that was late over the share that may be
"""


def _prefixed(prefix: str, what: str) -> str:
    return "\n".join(f"{prefix}_{line} ({what})" for line in SPREAD.strip().splitlines())


ALL = (
    Table("hours", "What ended in each UTC hour.", _columns(
        f"hour moment the hour's beginning\nqueue text the queue\nkind text the kind{ENDED}")),
    Table("throughput", "What ended on each UTC day.", _columns(
        f"day day the UTC day\nqueue text the queue\nkind text the kind{ENDED}")),
    Table("days", "Each day of the window in a row.", _columns(
        f"day day the UTC day{ENDED}{_prefixed('wait', 'until the first attempt')}\n{_prefixed('run', 'an attempt')}"
        f"{JUDGED}cost number what its run time cost\npartial truth the day was not over\n"
        "empty truth nothing ended on it")),
    Table("durations", "How long jobs waited and attempts ran.", _columns(
        "what text wait: from run_at to the first attempt; run: an attempt\nqueue text the queue; null is all\n"
        f"kind text the kind; null is all\ncount count jobs, or attempts{SPREAD}most number the longest, in seconds")),
    Table("retries", "How often jobs were tried.", _columns("""
        queue text the queue
        kind text the kind
        jobs count jobs with an attempt in the window
        attempts count attempts that ended in it, without snoozes and what was released
        retries count attempts after a job's first
        retried count jobs with a retry
        share number share of jobs with a retry
        most count the highest number of an attempt
        lapsed count attempts whose worker never came back
        snoozes count attempts that ended with a snooze
        released count given back before they began
        """)),
    Table("failures", "What jobs died of, the most deadly first; 50 at most.", _columns("""
        fingerprint text of type and message; the same cause has the same
        type text the error's type
        message text its message, with placeholders for what varies
        deaths count jobs that died of it
        attempts count attempts that failed with it
        kinds texts up to five kinds it happened to
        first moment when the first died
        last moment when the last died
        example text the last job that died
        """)),
    Table("lateness", "How many were begun in time.", _columns(
        f"queue text the queue; null is all\nkind text the kind; null is all{JUDGED}")),
    Table("costs", "What each kind's run time on Lambda cost.", _columns("""
        kind text the kind
        jobs count jobs with an attempt on Lambda
        attempts count attempts on Lambda
        requests number invocations; of one that several kinds share, the part
        billed_ms number milliseconds, each attempt's rounded up
        gb_seconds number of these times the memory
        cost number in the currency of the prices
        share number of all kinds' cost
        per_thousand number what a thousand jobs cost
        """)),
    Table("tenants", "Who used the workers, and who waited meanwhile; 50 at most.", _columns("""
        tenant text the tenant; empty is none
        jobs count jobs that ended
        ran number seconds that attempts ran
        waited number seconds that jobs waited for their first attempt
        others_waited number seconds of other tenants' wait that are laid to this one
        jobs_share number of all jobs
        ran_share number of all run time
        waited_share number of all waiting
        others_waited_share number of all waiting that is laid to anybody but who waited
        """)),
    Table("weeks", "Week over week, Monday to Sunday.", _columns(
        f"week day its Monday\ndays count days of it in the window that are over\nwhole truth all seven are{ENDED}"
        f"{_prefixed('wait', 'until the first attempt')}\n{_prefixed('run', 'an attempt')}\n"
        "counted count jobs that were begun\nlate count of them late\nwithin number share that was in time\n"
        "cost number what its run time cost\n"
        "jobs_change number against the week before, if both are whole\ndead_change number likewise\n"
        "wait_p95_change number likewise, in seconds\nrun_p95_change number likewise, in seconds\n"
        "within_change number likewise, a share\ncost_change number likewise")),
    Table("peaks", "The minutes that brought most work.", _columns("""
        minute moment the minute's beginning
        jobs count jobs that fell due in it
        attempts number attempts that these take in all
        work number seconds of one worker that they take
        busy number workers that they keep busy for a minute
        """)),
    Table("capacity", "What each wake mode would take, by the month.", _columns("""
        mode text minute, prompt or sleep
        workers count invocations that run at once
        chunk count jobs an invocation
        capacity count the setting that allows them
        within number share of jobs begun in time
        meets truth that is the target
        chosen truth this is the advice
        invocations number a month
        ticks number runs of the dispatcher a month
        awake_hours number hours a month that the database is asked
        jobs_cost number the handlers' run time
        glue_cost number their invocations
        ticks_cost number the dispatcher and its schedule
        database_cost number of 0.5 capacity units; not in the cost
        cost number the sum of the three before it
        """)),
)  # fmt: skip
TABLES = {table.name: table for table in ALL}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of every table, by its name."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {table.name: table.json_schema() for table in ALL},
    }
