"""Invalid jobs are rejected by the same named rule in Python and in SQL, and nothing is stored."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Json, Jsonb

from minutehand import InvalidJobError, NewJob, PayloadError, Rejected, Retry, enqueue, enqueue_many
from minutehand.model.rules import SENTENCES
from tests.queue.refused import BOTH, PYTHON, SQL
from tests.queue.stage import Queue

CHECK_VIOLATION = "23514"


def by_python(queue: Queue, /, **options: Any) -> None:
    enqueue(**({"kind": "echo"} | options), connection=queue.database)


def by_bulk(queue: Queue, /, **options: Any) -> None:
    on_conflict = {"on_conflict": options.pop("on_conflict")} if "on_conflict" in options else {}
    (made,) = enqueue_many([NewJob(**({"kind": "echo"} | options))], **on_conflict, connection=queue.database)
    if isinstance(made, Rejected):
        raise made.error


def python_refusal(
    interface: Callable[..., None], queue: Queue, options: dict[str, Any]
) -> InvalidJobError | None:
    try:
        interface(queue, **options)
    except InvalidJobError as error:
        return error
    return None


def sql_refusal(
    queue: Queue, arguments: str, parameters: dict[str, Any]
) -> tuple[str | None, str | None] | None:
    """Return the SQLSTATE and the rule by which `minutehand.enqueue` refuses a job."""
    try:
        queue.database.connection.execute(f"select minutehand.enqueue({arguments})".encode(), parameters)
    except psycopg.Error as error:
        return error.diag.sqlstate, error.diag.constraint_name
    return None


def sql_value(option: str, value: Any) -> Any:
    """Return the parameter for an option of Python."""
    if option == "payload":
        return Json(value)
    if option in ("headers", "retry"):
        return Jsonb(value.to_json() if isinstance(value, Retry) else value)
    return value


def stored_ids(queue: Queue) -> list[dict[str, Any]]:
    return queue.sql("select id from minutehand.jobs union all select load from minutehand.new_jobs")


@pytest.mark.parametrize("interface", [by_python, by_bulk])
def test_invalid_job_is_rejected_by_its_rule(queue: Queue, interface: Callable[..., None]) -> None:
    for rule, options in [*BOTH, *PYTHON]:
        refused = python_refusal(interface, queue, options)
        assert refused is not None and (options, refused.rule) == (options, rule)
        assert rule in SENTENCES or isinstance(refused, PayloadError)
        assert len(str(refused)) < 300
    assert stored_ids(queue) == []
    assert not queue.database.in_transaction


def test_sql_rejects_the_same_jobs_by_the_same_rules(queue: Queue) -> None:
    for rule, options in BOTH:
        values = {option: sql_value(option, value) for option, value in ({"kind": "echo"} | options).items()}
        arguments = ", ".join(f"{option} => %({option})s" for option in values)
        assert (options, sql_refusal(queue, arguments, values)) == (options, (CHECK_VIOLATION, rule))
    for rule, arguments in SQL:
        assert (arguments, sql_refusal(queue, arguments, {})) == (arguments, (CHECK_VIOLATION, rule))
    assert stored_ids(queue) == []


def test_unknown_option_raises_type_error(queue: Queue) -> None:
    with pytest.raises(TypeError):
        enqueue("echo", que="default", connection=queue.database)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("column", "words"),
    [("queue", "queue must not be null: set it, or leave it out"), ("kind", "kind must be 1 to")],
)
def test_null_is_rejected_with_the_name_of_its_column(queue: Queue, column: str, words: str) -> None:
    values = {"kind": "echo", "queue": "mail"} | {column: None}

    with pytest.raises(InvalidJobError, match=f"^{words}"), queue.database.transaction() as connection:
        connection.execute("insert into minutehand.jobs (kind, queue) values (%(kind)s, %(queue)s)", values)
