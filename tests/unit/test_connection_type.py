"""A connection of a wrong type is rejected with an error that says what to pass, and never quotes a URL."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from minutehand import ConnectionTypeError, NewJob, enqueue, enqueue_many, wait

URL = "postgres://ada:s3cret@localhost/jobs"
CALLS: dict[str, Callable[[Any], object]] = {
    "enqueue": lambda given: enqueue("echo", connection=given),
    "enqueue_many": lambda given: list(enqueue_many([NewJob("echo")], connection=given)),
    "wait": lambda given: wait(uuid4(), connection=given),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_url_is_rejected_with_the_remedy(call: Callable[[Any], object]) -> None:
    with pytest.raises(
        ConnectionTypeError, match=r"got str; for a URL, pass minutehand\.Database\(url\)"
    ) as error:
        call(URL)
    assert "s3cret" not in str(error.value)


@pytest.mark.parametrize("given", [Path("jobs"), {"host": "db"}, b"postgres://", 0, psycopg.Connection])
def test_object_of_another_type_is_rejected(given: object) -> None:
    expected = (
        "connection must be a connection of psycopg, psycopg2, asyncpg, SQLAlchemy or Django, a Session or "
        f"AsyncSession, a minutehand.Database or AsyncDatabase, or None, got {type(given).__name__}$"
    )
    with pytest.raises(TypeError, match=expected):
        enqueue("echo", connection=given)  # type: ignore[call-overload]
