"""Other statements than `minutehand.enqueue` follow the same rules, and JSON and taken keys have their errors."""

from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.queue.stage import Queue


def stored_ids(queue: Queue) -> list[dict[str, Any]]:
    return queue.sql("select id from minutehand.jobs union all select load from minutehand.new_jobs")


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
