"""Defaults of a kind apply to the options that an enqueue omits."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from minutehand import NewJob, Retry, enqueue, enqueue_many
from minutehand.model.row import Row
from tests.queue.stage import LONG, Queue

FIXED = Retry(strategy="fixed", min=LONG, jitter=False)
DEFAULTS = {
    "queue": "slow",
    "priority": 2,
    "max_attempts": 3,
    "timeout": timedelta(seconds=7),
    "retry": FIXED.to_json(),
    "on_dead": {"kind": "alert"},
}
SET_DEFAULTS = """insert into minutehand.defaults values
    ('welcome', 'slow', 2, 3, '7 seconds', '{"strategy":"fixed","min":600,"max":3600,"factor":3,"jitter":false}',
     '{"kind": "alert"}')"""


def by_python(queue: Queue, /, **options: Any) -> Row:
    return queue.row(enqueue("welcome", connection=queue.database, **options).id)


def by_bulk(queue: Queue, /, **options: Any) -> Row:
    (made,) = enqueue_many([NewJob("welcome", **options)], connection=queue.database)
    return queue.row(made.id)  # type: ignore[union-attr]


def by_sql(queue: Queue, /, **options: Any) -> Row:
    arguments = "".join(f", {name} => %({name})s" for name in options)
    parameters = {
        name: str(value) if isinstance(value, timedelta) else value for name, value in options.items()
    }
    (made,) = queue.sql(f"select id from minutehand.enqueue('welcome'{arguments})", **parameters)  # type: ignore[arg-type]
    return queue.row(made["id"])


def facts(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in DEFAULTS}


@pytest.mark.parametrize("interface", [by_python, by_bulk, by_sql])
def test_defaults_of_a_kind_apply_to_omitted_options(queue: Queue, interface: Callable[..., Row]) -> None:
    queue.sql(SET_DEFAULTS)

    assert facts(interface(queue)) == DEFAULTS
    assert facts(interface(queue, priority=9, queue="fast")) == DEFAULTS | {"priority": 9, "queue": "fast"}
    assert facts(interface(queue, max_attempts=1)) == DEFAULTS | {"max_attempts": 1}


@pytest.mark.parametrize("interface", [by_python, by_bulk, by_sql])
def test_table_defaults_apply_without_defaults_of_the_kind(
    queue: Queue, interface: Callable[..., Row]
) -> None:
    queue.sql("insert into minutehand.defaults (kind, priority) values ('other', 1)")
    table = {
        "queue": "default",
        "priority": 5,
        "max_attempts": 8,
        "timeout": None,
        "retry": None,
        "on_dead": None,
    }

    assert facts(interface(queue)) == table


def test_defaults_are_applied_at_enqueue_time(queue: Queue) -> None:
    before = queue.enqueue("welcome")
    queue.sql(SET_DEFAULTS)

    assert queue.row(before).priority == 5


def test_key_is_looked_up_in_the_default_queue_of_its_kind(queue: Queue) -> None:
    queue.sql(SET_DEFAULTS)
    first = queue.enqueue("welcome", key="ada")

    assert queue.enqueue("welcome", key="ada", queue="slow") == first
    assert queue.enqueue("welcome", key="ada", queue="default") != first
