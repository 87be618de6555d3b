"""What Postgres and the driver refuse, in our own words: one table from their errors to ours."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg

from minutehand.errors import (
    ConflictError,
    DatabaseError,
    ForbiddenError,
    InvalidJobError,
    KeyTakenError,
    PayloadError,
    ReadOnlyError,
    SchemaError,
    UnreachableError,
)
from minutehand.rules import sentence


@contextmanager
def translated(but_not: Sequence[Exception] = ()) -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except (psycopg.Error, UnicodeEncodeError) as error:
        if error in but_not:
            raise
        raise _translate(error) from error


def _translate(error: psycopg.Error | UnicodeEncodeError) -> Exception:
    if isinstance(error, UnicodeEncodeError):
        return InvalidJobError("text_is_text", sentence("text_is_text"))
    for kinds, make in _TRANSLATIONS:
        if isinstance(error, kinds):
            return make(error)
    if error.sqlstate is None and isinstance(error, psycopg.DataError):
        return InvalidJobError("text_is_text", sentence("text_is_text"))
    if isinstance(error, psycopg.DataError):
        return InvalidJobError(
            "number_is_in_range", f"{sentence('number_is_in_range')}: {_first_line(error)}"
        )
    if isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)) or _garbled(error):
        return UnreachableError(f"the database cannot be reached: {_first_line(error)}")
    return DatabaseError(f"the database refused: {_first_line(error)}")


def _garbled(error: psycopg.Error) -> bool:
    """Whether the driver could make nothing of the answer, as when a pooler says twice that its server is gone."""
    return error.sqlstate is None and isinstance(error, psycopg.InternalError)


def _broken_rule(error: psycopg.Error) -> Exception:
    rule = error.diag.constraint_name or "unknown"
    if rule == "payload_fits":
        return PayloadError(rule, f"the payload is too large: {error.diag.message_primary}")
    return InvalidJobError(rule, sentence(rule))


def _taken(error: psycopg.Error) -> Exception:
    return KeyTakenError(_first_line(error))


def _schema(error: psycopg.Error) -> Exception:
    return SchemaError(f"the schema does not fit this code ({_first_line(error)}); run: minutehand migrate")


def _first_line(error: psycopg.Error) -> str:
    return (
        (error.diag.message_primary or str(error)).strip().splitlines()[0]
        if str(error).strip()
        else "no answer"
    )


_TRANSLATIONS: list[tuple[tuple[type[psycopg.Error], ...], Callable[[psycopg.Error], Exception]]] = [
    ((pg.CheckViolation,), _broken_rule),
    ((pg.UniqueViolation,), _taken),
    (
        (pg.UntranslatableCharacter, pg.CharacterNotInRepertoire),
        lambda _: InvalidJobError("text_is_text", sentence("text_is_text")),
    ),
    ((pg.NotNullViolation,), lambda _: InvalidJobError("kind_is_a_name", sentence("kind_is_a_name"))),
    (
        (pg.SerializationFailure, pg.DeadlockDetected),
        lambda e: ConflictError(
            f"concurrent transactions got in each other's way ({_first_line(e)}); run yours again"
        ),
    ),
    (
        (pg.InsufficientPrivilege,),
        lambda e: ForbiddenError(f"the database role may not do this: {_first_line(e)}"),
    ),
    (
        (pg.ReadOnlySqlTransaction,),
        lambda _: ReadOnlyError("the database takes no writes: name a writable one"),
    ),
    (
        (
            pg.UndefinedTable,
            pg.UndefinedFunction,
            pg.UndefinedColumn,
            pg.UndefinedObject,
            pg.InvalidSchemaName,
        ),
        _schema,
    ),
]
