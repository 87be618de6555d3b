"""The jobs that enqueue refuses, each with the rule that it breaks: one table for Python, bulk enqueue and SQL.

BOTH        options as Python values, for all three
PYTHON      values whose types SQL excludes, or that the driver cannot send
SQL         arguments of `minutehand.enqueue` that only SQL can write
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from minutehand import Retry

Refused = tuple[str, dict[str, Any]]

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
NOON = datetime(2041, 1, 7, 12, tzinfo=UTC)

NAMES = [
    *("", " ", "a b", "é", "a/b", "../../etc/passwd", "a;drop table jobs", "'", '"', "%s"),
    *("a" * 101, "a\n", "\n", ".a", "_a"),
]
# The driver cannot send them.
NO_TEXTS = ["a\0b", "\ud800"]


def each(rule: str, option: str, *values: object, **others: object) -> list[Refused]:
    """Return a row for each value of an option, with the same other options."""
    return [(rule, {option: value, **others}) for value in values]


BOTH: list[Refused] = [
    *each(
        "kind_is_a_name",
        "kind",
        *NAMES,
        None,
        "1a",
        "a-b",
        "a.",
        "a..b",
        "__import__",
        "a._b",
        "os.system(1)",
    ),
    *each("queue_is_a_name", "queue", *NAMES, "-a"),
    *each("key_fits", "key", "", "k" * 1025, "é" * 513, "k" * 10_000),
    *each("time_is_finite", "run_at", datetime.max.replace(tzinfo=UTC)),
    *each("delay_is_not_negative", "delay", -SECOND, -timedelta(microseconds=1), timedelta.min),
    *each("run_at_or_delay", "delay", SECOND, run_at=NOON),
    *each("priority_is_0_to_9", "priority", -1, 10),
    *each("max_attempts_is_at_least_1", "max_attempts", 0, -1, 1_000_001),
    *each("timeout_is_positive", "timeout", timedelta(), -SECOND, timedelta(hours=24, microseconds=1)),
    *each("expires_is_positive", "expires", timedelta(), -SECOND, timedelta(days=3650, microseconds=1)),
    *each("headers_are_strings", "headers", {"a": 1}, {"a": None}, {"a": "x" * 9000}, ["a"], "a"),
    *each("retry_is_a_strategy", "retry", Retry(strategy="never"), Retry(min=-SECOND)),  # type: ignore[arg-type]
    *each("retry_is_a_strategy", "retry", Retry(min=2 * SECOND, max=SECOND), Retry(max=timedelta(days=366))),
    *each("retry_is_a_strategy", "retry", Retry(factor=-1), Retry(factor=1001), Retry(factor="3")),  # type: ignore[arg-type]
    *each("retry_is_a_strategy", "retry", Retry(jitter=1), "exponential", {"strategy": "fixed"}),  # type: ignore[arg-type]
    *each("on_conflict_is_known", "on_conflict", "update", "", None),
    *each("payload_fits", "payload", "x" * 300_000),
    *each("payload_fits", "payload", "x" * 300_000, key="k", on_conflict="merge"),
    *each("tenant_is_a_name", "tenant", "a b", " ", "t" * 101),
    *each("every_recurs", "every", "", "tomorrow", "P", "P-1D", "P0D", "P1", "P1X", "P1.5M", "PT0.5S"),
    *each("every_fits", "every", "0," * 100 + "0 * * * *", run_at=NOON),
    *each("every_or_debounce", "throttle", HOUR, key="k", every="P1D"),
    *each("zone_is_of_every", "zone", "UTC", "Europe/Berlin"),
    *each("zone_is_known", "zone", "Mars/Base", "CEST", "posix/Europe/Berlin", every="P1D"),
    *each("key_is_set", "unique_while", "running"),
    *each("key_is_set", "unique_for", SECOND),
    *each("key_is_set", "debounce", SECOND),
    *each("key_is_set", "debounce_max", SECOND),
    *each("key_is_set", "throttle", SECOND),
    *each("unique_while_is_known", "unique_while", "done", key="k"),
    *each("period_is_positive", "unique_for", timedelta(), key="k"),
    *each("period_is_positive", "debounce", -SECOND, key="k"),
    *each("period_is_positive", "throttle", timedelta(), key="k"),
    *each("debounce_max_is_longer", "debounce_max", HOUR, key="k"),
    *each("debounce_max_is_longer", "debounce_max", HOUR, key="k", debounce=2 * HOUR),
    *each("one_period", "throttle", HOUR, key="k", debounce=HOUR),
    *each("one_period", "throttle", HOUR, key="k", unique_for=HOUR),
    *each("run_at_or_debounce", "debounce", HOUR, key="k", delay=HOUR),
    *each("run_at_or_debounce", "debounce", HOUR, key="k", run_at=NOON),
    *each("debounce_moves", "on_conflict", "ignore", "raise", key="k", debounce=HOUR),
]

PYTHON: list[Refused] = [
    *each("text_is_text", "kind", *NO_TEXTS),
    *each("text_is_text", "queue", *NO_TEXTS),
    *each("kind_is_a_name", "kind", 7),
    *each("queue_is_a_name", "queue", ["default"]),
    *each("key_fits", "key", b"bytes", True, float("nan"), {"a": 1}, (), [""], ["a", None], ["a", ["b"]]),
    *each("key_fits", "key", ["a"] * 101, ["k" * 600, "k" * 600]),
    *each("time_is_finite", "run_at", datetime(2030, 1, 1), "2030-01-01T00:00:00Z", 1893456000),
    *each("delay_is_not_negative", "delay", 60, float("nan")),
    *each("number_is_in_range", "delay", timedelta.max),
    *each("priority_is_0_to_9", "priority", 10**30, True, 5.0, float("nan"), "high"),
    *each("max_attempts_is_at_least_1", "max_attempts", "8"),
    *each("timeout_is_positive", "timeout", 5),
    *each("headers_are_strings", "headers", {1: "a"}, {"a": object()}, {"a": "\ud800"}),
    *each("text_is_text", "headers", {"a": "\0"}),
    *each("retry_is_a_strategy", "retry", Retry(factor=float("nan")), Retry(factor=float("inf"))),
    *each("retry_is_a_strategy", "retry", Retry(min=10)),  # type: ignore[arg-type]
    *each("every_recurs", "every", "61 * * * *", 60, timedelta(), -SECOND, SECOND / 2),
    *each("zone_is_of_every", "zone", "", 1),
    *each("personal_is_yes_or_no", "personal", 1, "yes"),
    *each("tenant_is_a_name", "tenant", 7),
    *each("payload_is_json", "payload", object(), {"of": object()}, float("nan")),
]

SQL: list[tuple[str, str]] = [
    ("key_fits", "'echo', key => minutehand.key_of('a', '')"),
    ("key_fits", "'echo', key => minutehand.key_of('a', null)"),
    ("time_is_finite", "'echo', run_at => 'infinity'"),
    ("time_is_finite", "'echo', run_at => '10000-01-01'"),
    ("headers_are_strings", "'echo', headers => 'null'"),
    ("retry_is_a_strategy", "'echo', retry => 'null'"),
    ("retry_is_a_strategy", "'echo', retry => '[]'"),
    (
        "retry_is_a_strategy",
        """'echo', retry => '{"strategy": "fixed", "min": "a", "max": 1, "factor": 1, "jitter": true}'""",
    ),
    (
        "retry_is_a_strategy",
        """'echo', retry => '{"strategy": "fixed", "min": 1, "max": 1, "factor": 1, "jitter": true, "x": 1}'""",
    ),
    # In Python, these are complete.
    ("every_has_a_beginning", "'echo', every => '0 8 * * mon'"),
    ("every_has_a_beginning", "'echo', every => '@daily'"),
]
