"""Errors of Postgres have the class that says what to do; only a lost session counts as unreachable."""

import pytest

from minutehand import enqueue
from minutehand.errors import (
    BusyError,
    ConflictError,
    DatabaseError,
    ForbiddenError,
    InvalidJobError,
    KeyTakenError,
    MinutehandError,
    ReadOnlyError,
    SchemaError,
    UnreachableError,
)
from minutehand.queries.jobs import get
from tests.queue.stage import Queue

# One SQLSTATE or more of each class that Postgres may answer with.
CLASSES: dict[str, type[MinutehandError]] = {
    "08006": UnreachableError,
    "0A000": DatabaseError,
    "21000": DatabaseError,
    "22003": InvalidJobError,
    "22008": InvalidJobError,
    "22P02": InvalidJobError,
    "22P05": InvalidJobError,
    "23502": InvalidJobError,
    "23503": DatabaseError,
    "23505": KeyTakenError,
    "23514": InvalidJobError,
    "25006": ReadOnlyError,
    "25P02": DatabaseError,
    "2D000": DatabaseError,
    "3F000": SchemaError,
    "40001": ConflictError,
    "40P01": ConflictError,
    "42501": ForbiddenError,
    "42703": SchemaError,
    "42804": DatabaseError,
    "42883": SchemaError,
    "42P01": SchemaError,
    "53100": BusyError,
    "53200": BusyError,
    "53400": DatabaseError,
    "54000": InvalidJobError,
    "54001": InvalidJobError,
    "54023": DatabaseError,
    "55000": DatabaseError,
    "55P03": BusyError,
    "57014": BusyError,
    "57P01": UnreachableError,
    "57P03": UnreachableError,
    "58030": DatabaseError,
    "P0001": DatabaseError,
    "XX000": DatabaseError,
    "XX001": DatabaseError,
}


@pytest.mark.parametrize(("state", "expected"), CLASSES.items())
def test_sqlstate_has_its_error(direct_queue: Queue, state: str, expected: type[MinutehandError]) -> None:
    with pytest.raises(MinutehandError) as raised, direct_queue.database.transaction() as connection:
        connection.execute(f"do $$ begin raise exception using errcode = '{state}', message = 'no'; end $$")

    assert type(raised.value) is expected


def test_ended_session_is_unreachable(direct_queue: Queue) -> None:
    with pytest.raises(UnreachableError), direct_queue.database.transaction() as connection:
        connection.execute("select pg_terminate_backend(pg_backend_pid())")

    assert direct_queue.database.run("clock")


def test_time_limit_of_the_server_does_not_close_the_session(direct_queue: Queue) -> None:
    connection = direct_queue.database.connection
    with pytest.raises(BusyError), direct_queue.database.transaction():
        connection.execute("set local statement_timeout = '1ms'; select pg_sleep(1)")

    assert direct_queue.database.connection is connection


def test_malformed_text_is_not_called_out_of_range(direct_queue: Queue) -> None:
    with pytest.raises(InvalidJobError, match="form of its type: invalid input syntax for type uuid"):
        get(direct_queue.database, "x")  # type: ignore[call-overload]


def test_deeply_nested_payload_is_invalid(direct_queue: Queue) -> None:
    nested: list[object] = []
    for _ in range(20_000):
        nested = [nested]

    with pytest.raises(InvalidJobError):
        enqueue("echo", nested, connection=direct_queue.database)
