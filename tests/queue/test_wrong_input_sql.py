"""Invalid jobs are rejected by the same rules in SQL, and nothing is stored."""

from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.queue.stage import Queue


def stored_ids(queue: Queue) -> list[dict[str, Any]]:
    return queue.sql("select id from minutehand.jobs union all select load from minutehand.new_jobs")


INVALID = [
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
    ("zone_is_known", "'echo', every => 'P1D', zone => 'posix/Europe/Berlin'"),
    ("every_fits", "'echo', every => repeat('0,', 100) || '0 * * * *', run_at => now()"),
    ("tenant_is_a_name", "'echo', tenant => 'a b'"),
    ("payload_fits", "'echo', to_json(repeat('x', 300000)), key => 'k', on_conflict => 'merge'"),
    ("on_conflict_is_known", "'echo', on_conflict => 'update'"),
    ("on_conflict_is_known", "'echo', on_conflict => null"),
]


def test_sql_error_has_a_check_violation_and_the_rule(queue: Queue) -> None:
    for rule, arguments in INVALID:
        with pytest.raises(psycopg.Error) as refused:
            queue.sql(f"select minutehand.enqueue({arguments})")  # type: ignore[arg-type]

        diagnosis = refused.value.diag
        assert (arguments, diagnosis.sqlstate, diagnosis.constraint_name) == (arguments, "23514", rule)
    assert stored_ids(queue) == []


def test_direct_insert_is_checked_by_the_same_rules(queue: Queue) -> None:
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
    assert stored_ids(queue) == []


def test_taken_key_is_a_unique_violation_in_sql(queue: Queue) -> None:
    queue.enqueue(key="report")
    with pytest.raises(errors.UniqueViolation) as refused:
        queue.sql("select minutehand.enqueue('echo', key => 'report', on_conflict => 'raise')")

    assert refused.value.diag.constraint_name == "key_is_free"


@pytest.mark.parametrize("payload", ["{", "nan", "{'a': 1}", "", "[1,]", "\ud800"])
def test_invalid_json_is_rejected_in_sql(queue: Queue, payload: str) -> None:
    with pytest.raises((psycopg.DataError, UnicodeEncodeError)):
        queue.sql("select minutehand.enqueue('echo', %(payload)s::json)", payload=payload)

    assert stored_ids(queue) == []
