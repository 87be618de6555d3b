"""What Postgres and the driver refuse, in our own words: one table from their errors to ours."""

import re
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
from minutehand.model.rules import sentence


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
        return UnreachableError(f"the database cannot be reached: {_first_line(error)}{_advice(error)}")
    return DatabaseError(f"the database refused: {_first_line(error)}")


def busy(error: psycopg.Error) -> bool:
    """Whether a server or pooler has no connection to give yet, but may have one in a moment."""
    return _BUSY.search(str(error)) is not None or _STARTING.search(str(error)) is not None


def refused_password(error: psycopg.Error) -> bool:
    """Whether the server may have refused the password.

    The driver does not tell the code of an error at the door (28P01, 28000), and its words are in the server's
    language: so it is every refusal after a password was asked for that is not known to be another.
    """
    if busy(error) or error.pgconn is None:
        return False
    return error.pgconn.used_password or error.pgconn.needs_password or "authentication failed" in str(error)


def _advice(error: psycopg.Error) -> str:
    """Say what to do, where the driver's words do not."""
    if isinstance(error, pg.ConnectionTimeout):
        return _SLOW
    return next((advice for words, advice in _ADVICE if words.search(str(error))), "")


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


_BUSY = re.compile(
    r"too many (clients|connections)|connection slots are reserved"  # Postgres, 53300
    r"|no more connections allowed|server login has been failing|query_wait_timeout"  # PgBouncer
    r"|waiting to acquire|acquire permit|max client connections|max clients reached",  # RDS Proxy, Neon, Supabase
    re.IGNORECASE,
)
_STARTING = re.compile(r"the database (system )?is |resuming", re.IGNORECASE)  # 57P03 and its like
_SLOW = (
    ": nobody answers at this address, or a database that is paused takes longer than MINUTEHAND_CONNECT_TIMEOUT "
    "to resume"
)
_ADVICE = [
    (
        re.compile(r"certificate verify failed|self.signed certificate", re.IGNORECASE),
        "; its certificate is signed by nobody we trust: name the authority's file as sslrootcert in the URL",
    ),
    (
        re.compile("does not match host name"),
        "; the certificate is for another name: use that one in the URL, and hostaddr for the address",
    ),
    (
        re.compile("does not support SSL"),
        "; turn TLS on there, or, where nobody else listens, say sslmode=disable in the URL",
    ),
    (re.compile("root certificate file"), "; the file that sslrootcert names is not there"),
    (_BUSY, "; all connections are taken: lower MINUTEHAND_CAPACITY, or put a pooler in front"),
    (_STARTING, "; it is starting or stopping: the next tick tries again"),
    (
        re.compile("authentication failed|no password supplied"),
        "; the password or token is wrong, also when asked for anew: look at the secret and at the role",
    ),
    (re.compile("translate host name"), "; the host's name is wrong, or not known where this runs"),
]
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
