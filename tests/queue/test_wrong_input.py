"""What cannot be a job is refused by a rule with a name, the same in Python and in SQL, and nothing is written."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg import errors

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
    ("payload", "payload_is_json", b"bytes"),
    ("payload", "payload_is_json", {"of": bytearray(b"bytes")}),
    ("payload", "payload_is_json", float("nan")),
    ("payload", "payload_fits", "x" * 300_000),
]
OF_TEXT = {"text_is_text"}  # what no text column takes is refused as such, wherever it is


def by_python(queue: Queue, /, **options: Any) -> None:
    enqueue(**({"kind": "echo"} | options), connection=queue.database)


def by_bulk(queue: Queue, /, **options: Any) -> None:
    on_conflict = {"on_conflict": options.pop("on_conflict")} if "on_conflict" in options else {}
    (made,) = enqueue_many([NewJob(**({"kind": "echo"} | options))], **on_conflict, connection=queue.database)
    if isinstance(made, Rejected):
        raise made.error


def refusal(way_in: Callable[..., None], queue: Queue, option: str, value: Any) -> InvalidJobError:
    try:
        way_in(queue, **{option: value})
    except InvalidJobError as error:
        return error
    raise AssertionError(f"{option}={value!r} was taken")


def written(queue: Queue) -> list[dict[str, Any]]:
    return queue.sql("select id from minutehand.jobs union all select load from minutehand.new_jobs")


@pytest.mark.parametrize("way_in", [by_python, by_bulk])
def test_what_cannot_be_a_job_is_refused_by_its_rule(queue: Queue, way_in: Callable[..., None]) -> None:
    for option, rule, value in WRONG:
        refused = refusal(way_in, queue, option, value)
        told = (option, repr(value)[:60], refused.rule)

        assert told == (*told[:2], rule) or refused.rule in OF_TEXT, told
        assert refused.rule in SENTENCES or isinstance(refused, PayloadError)
        assert len(str(refused)) < 300
    assert written(queue) == []
    assert not queue.database.in_transaction


def test_run_at_and_delay_together_are_a_contradiction(queue: Queue) -> None:
    with pytest.raises(InvalidJobError, match="not both") as refused:
        by_python(queue, run_at=datetime(2030, 1, 1, tzinfo=UTC), delay=SECOND)

    assert refused.value.rule == "run_at_or_delay"


def test_an_unknown_option_is_a_fault_of_the_program(queue: Queue) -> None:
    with pytest.raises(TypeError):
        enqueue("echo", que="default", connection=queue.database)  # type: ignore[call-arg]


BY_SQL = [
    ("kind_is_a_name", "'../etc/passwd'"),
    ("kind_is_a_name", "'os.system(1)'"),
    ("kind_is_a_name", "''"),
    ("kind_is_a_name", "null"),
    ("kind_is_a_name", "repeat('a', 101)"),
    ("queue_is_a_name", "'echo', queue => 'a b'"),
    ("queue_is_a_name", "'echo', queue => e'a\\n'"),
    ("queue_is_a_name", "'echo', queue => ''"),
    ("key_fits", "'echo', key => ''"),
    ("key_fits", "'echo', key => repeat('k', 10000)"),
    ("moment_is_finite", "'echo', run_at => 'infinity'"),
    ("moment_is_finite", "'echo', run_at => '10000-01-01'"),
    ("delay_is_not_negative", "'echo', delay => '-1 second'"),
    ("run_at_or_delay", "'echo', delay => '1 second', run_at => now()"),
    ("priority_is_0_to_9", "'echo', priority => 10"),
    ("priority_is_0_to_9", "'echo', priority => -1"),
    ("max_attempts_is_at_least_1", "'echo', max_attempts => 0"),
    ("timeout_is_positive", "'echo', timeout => '0'"),
    ("timeout_is_positive", "'echo', timeout => '25 hours'"),
    ("headers_are_strings", "'echo', headers => '[]'"),
    ("headers_are_strings", "'echo', headers => '{\"a\": 1}'"),
    ("headers_are_strings", "'echo', headers => 'null'"),
    ("retry_is_a_strategy", "'echo', retry => 'null'"),
    ("retry_is_a_strategy", "'echo', retry => '[]'"),
    ("retry_is_a_strategy", "'echo', retry => '{}'"),
    (
        "retry_is_a_strategy",
        """'echo', retry => '{"strategy": "fixed", "min": "a", "max": 1, "factor": 1, "jitter": true}'""",
    ),
    (
        "retry_is_a_strategy",
        """'echo', retry => '{"strategy": "fixed", "min": 1, "max": 1, "factor": 1, "jitter": true, "x": 1}'""",
    ),
    ("payload_fits", "'echo', to_json(repeat('x', 300000))"),
    ("key_fits", "'echo', key => minutehand.key_of('a', '')"),
    ("key_fits", "'echo', key => minutehand.key_of('a', null)"),
    ("key_is_set", "'echo', unique_for => '1 hour'"),
    ("key_is_set", "'echo', unique_while => 'running'"),
    ("unique_while_is_known", "'echo', key => 'k', unique_while => 'done'"),
    ("period_is_positive", "'echo', key => 'k', unique_for => '0'"),
    ("period_is_positive", "'echo', key => 'k', debounce => '-1 second'"),
    ("period_is_positive", "'echo', key => 'k', throttle => '0'"),
    ("debounce_max_is_longer", "'echo', key => 'k', debounce_max => '1 hour'"),
    ("debounce_max_is_longer", "'echo', key => 'k', debounce => '2 hours', debounce_max => '1 hour'"),
    ("one_period", "'echo', key => 'k', debounce => '1 hour', throttle => '1 hour'"),
    ("one_period", "'echo', key => 'k', unique_for => '1 hour', throttle => '1 hour'"),
    ("run_at_or_debounce", "'echo', key => 'k', debounce => '1 hour', delay => '1 hour'"),
    ("run_at_or_debounce", "'echo', key => 'k', debounce => '1 hour', run_at => now()"),
    ("debounce_moves", "'echo', key => 'k', debounce => '1 hour', on_conflict => 'ignore'"),
    ("debounce_moves", "'echo', key => 'k', debounce => '1 hour', on_conflict => 'raise'"),
    ("every_recurs", "'echo', every => 'tomorrow'"),
    ("every_recurs", "'echo', every => 'P0D'"),
    ("every_recurs", "'echo', every => 'P1X'"),
    ("every_has_a_beginning", "'echo', every => '0 8 * * mon'"),
    ("every_has_a_beginning", "'echo', every => '@daily'"),
    ("every_or_debounce", "'echo', key => 'k', every => 'P1D', throttle => '1 hour'"),
    ("zone_is_of_every", "'echo', zone => 'Europe/Berlin'"),
    ("zone_is_known", "'echo', every => 'P1D', zone => 'Mars/Base'"),
    ("zone_is_known", "'echo', every => 'P1D', zone => 'CEST'"),
    ("tenant_is_a_name", "'echo', tenant => 'a b'"),
    ("payload_fits", "'echo', to_json(repeat('x', 300000)), key => 'k', on_conflict => 'merge'"),
    ("on_conflict_is_known", "'echo', on_conflict => 'update'"),
    ("on_conflict_is_known", "'echo', on_conflict => null"),
]


def test_sql_is_refused_with_the_sqlstate_of_a_check_and_the_name_of_the_rule(queue: Queue) -> None:
    for rule, arguments in BY_SQL:
        with pytest.raises(psycopg.Error) as refused:
            queue.sql(f"select minutehand.enqueue({arguments})")  # type: ignore[arg-type]

        diagnosis = refused.value.diag
        assert (arguments, diagnosis.sqlstate, diagnosis.constraint_name) == (arguments, "23514", rule)
    assert written(queue) == []


def test_an_insert_by_hand_meets_the_same_rules(queue: Queue) -> None:
    for column, value in [
        ("kind", ""),
        ("queue", "a b"),
        ("priority", 10),
        ("max_attempts", 0),
        ("visible", "infinity"),
    ]:
        columns = {"kind": "echo"} | {column: value}
        with pytest.raises(errors.CheckViolation):
            queue.sql(
                f"insert into minutehand.jobs ({', '.join(columns)}) values ({', '.join(f'%({c})s' for c in columns)})",  # type: ignore[arg-type]
                **columns,
            )
    assert written(queue) == []


def test_a_taken_key_is_the_sqlstate_of_a_duplicate(queue: Queue) -> None:
    queue.enqueue(key="report")
    with pytest.raises(errors.UniqueViolation) as refused:
        queue.sql("select minutehand.enqueue('echo', key => 'report', on_conflict => 'raise')")

    assert refused.value.diag.constraint_name == "key_is_free"


@pytest.mark.parametrize("payload", ["{", "nan", "{'a': 1}", "", "[1,]", "\ud800"])
def test_what_is_not_json_is_refused_by_its_type_in_sql(queue: Queue, payload: str) -> None:
    with pytest.raises((psycopg.DataError, UnicodeEncodeError)):
        queue.sql("select minutehand.enqueue('echo', %(payload)s::json)", payload=payload)

    assert written(queue) == []
