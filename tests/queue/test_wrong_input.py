"""Invalid jobs are rejected by a named rule in Python, and nothing is stored."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from minutehand import InvalidJobError, NewJob, PayloadError, Rejected, Retry, enqueue, enqueue_many
from minutehand.model.rules import SENTENCES
from tests.queue.stage import Queue

SECOND = timedelta(seconds=1)

NAMES = [
    "",
    " ",
    "a b",
    "é",
    "a/b",
    "../../etc/passwd",
    "a;drop table jobs",
    "'",
    '"',
    "%s",
    "a" * 101,
    "a\n",
    "\n",
    "a\0b",
    "\ud800",
]

WRONG: list[tuple[str, str, Any]] = [
    *(
        ("kind", "kind_is_a_name", name)
        for name in [*NAMES, "1a", "_a", "a-b", ".a", "a.", "a..b", "__import__", "a._b"]
    ),
    *(("queue", "queue_is_a_name", name) for name in [*NAMES, "-a", ".a", "_a"]),
    ("key", "key_fits", ""),
    ("key", "key_fits", "k" * 1025),
    ("key", "key_fits", "é" * 513),
    ("key", "key_fits", "k" * 10_000),
    ("key", "key_fits", b"bytes"),
    ("key", "key_fits", True),
    ("key", "key_fits", float("nan")),
    ("key", "key_fits", {"a": 1}),
    ("key", "key_fits", ()),
    ("key", "key_fits", [""]),
    ("key", "key_fits", ["a", None]),
    ("key", "key_fits", ["a", ["b"]]),
    ("key", "key_fits", ["a"] * 101),
    ("key", "key_fits", ["k" * 600, "k" * 600]),
    ("kind", "kind_is_a_name", None),
    ("kind", "kind_is_a_name", 7),
    ("queue", "queue_is_a_name", ["default"]),
    ("run_at", "moment_is_finite", datetime(2030, 1, 1)),
    ("run_at", "moment_is_finite", "2030-01-01T00:00:00Z"),
    ("run_at", "moment_is_finite", 1893456000),
    ("run_at", "moment_is_finite", datetime.max.replace(tzinfo=UTC)),
    ("delay", "delay_is_not_negative", -SECOND),
    ("delay", "delay_is_not_negative", -timedelta(microseconds=1)),
    ("delay", "delay_is_not_negative", timedelta.min),
    ("delay", "delay_is_not_negative", 60),
    ("delay", "delay_is_not_negative", float("nan")),
    ("delay", "number_is_in_range", timedelta.max),
    ("priority", "priority_is_0_to_9", -1),
    ("priority", "priority_is_0_to_9", 10),
    ("priority", "priority_is_0_to_9", 10**30),
    ("priority", "priority_is_0_to_9", True),
    ("priority", "priority_is_0_to_9", 5.0),
    ("priority", "priority_is_0_to_9", float("nan")),
    ("priority", "priority_is_0_to_9", "high"),
    ("max_attempts", "max_attempts_is_at_least_1", 0),
    ("max_attempts", "max_attempts_is_at_least_1", -1),
    ("max_attempts", "max_attempts_is_at_least_1", 1_000_001),
    ("max_attempts", "max_attempts_is_at_least_1", "8"),
    ("timeout", "timeout_is_positive", timedelta()),
    ("timeout", "timeout_is_positive", -SECOND),
    ("timeout", "timeout_is_positive", timedelta(hours=24, microseconds=1)),
    ("timeout", "timeout_is_positive", 5),
    ("headers", "headers_are_strings", {"a": 1}),
    ("headers", "headers_are_strings", {"a": None}),
    ("headers", "headers_are_strings", {"a": "x" * 9000}),
    ("headers", "headers_are_strings", ["a"]),
    ("headers", "headers_are_strings", "a"),
    ("headers", "headers_are_strings", {1: "a"}),
    ("headers", "headers_are_strings", {"a": object()}),
    ("headers", "headers_are_strings", {"a": "\ud800"}),
    ("headers", "headers_are_strings", {"a": "\0"}),
    ("retry", "retry_is_a_strategy", "exponential"),
    ("retry", "retry_is_a_strategy", {"strategy": "fixed"}),
    ("retry", "retry_is_a_strategy", Retry(strategy="never")),  # type: ignore[arg-type]
    ("retry", "retry_is_a_strategy", Retry(min=-SECOND)),
    ("retry", "retry_is_a_strategy", Retry(min=2 * SECOND, max=SECOND)),
    ("retry", "retry_is_a_strategy", Retry(max=timedelta(days=366))),
    ("retry", "retry_is_a_strategy", Retry(factor=-1)),
    ("retry", "retry_is_a_strategy", Retry(factor=1001)),
    ("retry", "retry_is_a_strategy", Retry(factor=float("nan"))),
    ("retry", "retry_is_a_strategy", Retry(factor=float("inf"))),
    ("retry", "retry_is_a_strategy", Retry(factor="3")),  # type: ignore[arg-type]
    ("retry", "retry_is_a_strategy", Retry(jitter=1)),  # type: ignore[arg-type]
    ("retry", "retry_is_a_strategy", Retry(min=10)),  # type: ignore[arg-type]
    ("on_conflict", "on_conflict_is_known", "update"),
    ("on_conflict", "on_conflict_is_known", ""),
    ("on_conflict", "on_conflict_is_known", None),
    *(
        ("every", "every_recurs", wrong)
        for wrong in ("", "tomorrow", "61 * * * *", "P-1D", "P0D", "P1", 60, SECOND)
    ),
    *(("zone", "zone_is_of_every", wrong) for wrong in ("UTC", "Mars/Base", "", 1)),
    *(("personal", "personal_is_yes_or_no", wrong) for wrong in (1, "yes")),
    *(("tenant", "tenant_is_a_name", wrong) for wrong in ("a b", " ", 7, "t" * 101)),
    *(
        (option, "key_is_set", value)
        for option, value in [
            ("unique_while", "running"),
            ("unique_for", SECOND),
            ("debounce", SECOND),
            ("debounce_max", SECOND),
            ("throttle", SECOND),
        ]
    ),
    ("payload", "payload_is_json", object()),
    ("payload", "payload_is_json", {"of": object()}),
    ("payload", "payload_is_json", float("nan")),
    ("payload", "payload_fits", "x" * 300_000),
]

# Text that no column accepts has its own rule.
TEXT_RULES = {"text_is_text"}


def by_python(queue: Queue, /, **options: Any) -> None:
    enqueue(**({"kind": "echo"} | options), connection=queue.database)


def by_bulk(queue: Queue, /, **options: Any) -> None:
    on_conflict = {"on_conflict": options.pop("on_conflict")} if "on_conflict" in options else {}
    (made,) = enqueue_many([NewJob(**({"kind": "echo"} | options))], **on_conflict, connection=queue.database)
    if isinstance(made, Rejected):
        raise made.error


def refusal(interface: Callable[..., None], queue: Queue, option: str, value: Any) -> InvalidJobError:
    try:
        interface(queue, **{option: value})
    except InvalidJobError as error:
        return error
    raise AssertionError(f"{option}={value!r} was accepted")


def stored_ids(queue: Queue) -> list[dict[str, Any]]:
    return queue.sql("select id from minutehand.jobs union all select load from minutehand.new_jobs")


@pytest.mark.parametrize("interface", [by_python, by_bulk])
def test_invalid_job_is_rejected_by_its_rule(queue: Queue, interface: Callable[..., None]) -> None:
    for option, rule, value in WRONG:
        refused = refusal(interface, queue, option, value)
        case = (option, repr(value)[:60], refused.rule)

        assert case == (*case[:2], rule) or refused.rule in TEXT_RULES, case
        assert refused.rule in SENTENCES or isinstance(refused, PayloadError)
        assert len(str(refused)) < 300
    assert stored_ids(queue) == []
    assert not queue.database.in_transaction


def test_run_at_and_delay_are_mutually_exclusive(queue: Queue) -> None:
    with pytest.raises(InvalidJobError, match="not both") as refused:
        by_python(queue, run_at=datetime(2030, 1, 1, tzinfo=UTC), delay=SECOND)

    assert refused.value.rule == "run_at_or_delay"


def test_unknown_option_raises_type_error(queue: Queue) -> None:
    with pytest.raises(TypeError):
        enqueue("echo", que="default", connection=queue.database)  # type: ignore[call-arg]
