"""Driver errors: one table that translates errors of Postgres and of the driver into ours."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg
from psycopg.pq import DiagnosticField

from minutehand.errors import (
    BusyError,
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
from minutehand.model.rules import LIMITS, sentence
from minutehand.settings import fetches_password


@contextmanager
def translated(raw: Sequence[Exception] = ()) -> Iterator[None]:
    """Translate the driver's errors, except those in `raw`."""
    try:
        yield
    except (psycopg.Error, UnicodeEncodeError) as error:
        if error in raw:
            raise
        raise translate(error) from error


def equivalent(
    sqlstate: str | None, message: str, constraint: str | None = None, severity: str | None = None
) -> psycopg.Error:
    """Return psycopg's error for one of another driver, so that one table translates both."""
    known = {
        DiagnosticField.SQLSTATE: sqlstate,
        DiagnosticField.MESSAGE_PRIMARY: message,
        DiagnosticField.CONSTRAINT_NAME: constraint,
        DiagnosticField.SEVERITY_NONLOCALIZED: severity,
    }
    fields: dict[int, bytes | None] = {
        field: text.encode() for field, text in known.items() if text is not None
    }
    try:
        kind: type[psycopg.Error] = psycopg.OperationalError if sqlstate is None else pg.lookup(sqlstate)
    except KeyError:
        kind = psycopg.DatabaseError
    return kind(message, info=fields)


def translate(error: psycopg.Error | UnicodeEncodeError) -> Exception:
    """Return our error for one of the driver."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidJobError("text_is_text", sentence("text_is_text"))
    for kinds, make in _TRANSLATIONS:
        if isinstance(error, kinds):
            return make(error)
    if error.sqlstate is None and isinstance(error, psycopg.DataError):
        return InvalidJobError("text_is_text", sentence("text_is_text"))
    if isinstance(error, psycopg.DataError):
        malformed = isinstance(error, pg.InvalidTextRepresentation)
        rule = "value_has_its_form" if malformed else "number_is_in_range"
        return InvalidJobError(rule, f"{sentence(rule)}: {_first_line(error)}")
    if _has_ended(error):
        return UnreachableError(f"the database cannot be reached: {_first_line(error)}{_advice(error)}")
    return DatabaseError(f"the database refused the statement: {_first_line(error)}")


def was_canceled(error: BusyError) -> bool:
    """Return whether the server canceled the statement, as it does at a time limit."""
    return isinstance(error.__cause__, pg.QueryCanceled)


def was_locked(error: BusyError) -> bool:
    """Return whether the statement waited for a transaction for as long as it was allowed to."""
    return isinstance(error.__cause__, pg.LockNotAvailable)


def busy(error: psycopg.Error) -> bool:
    """Return whether the server or pooler has no free connection now, but may have one soon."""
    return _BUSY.search(str(error)) is not None or _STARTING.search(str(error)) is not None


def refused_password(error: psycopg.Error) -> bool:
    """Return whether the server may have refused the password.

    The driver hides the SQLSTATE of a failed connection (28P01, 28000), and the message is in the server's language.
    So this is any refusal after a password was requested, unless another cause is known.
    """
    if busy(error) or error.pgconn is None:
        return False
    return error.pgconn.used_password or error.pgconn.needs_password or "authentication failed" in str(error)


def _advice(error: psycopg.Error) -> str:
    """Return what to do, where the driver's message does not say it."""
    if isinstance(error, pg.ConnectionTimeout):
        return _SLOW
    advice = next((advice for words, advice in _ADVICE if words.search(str(error))), "")
    return _WRONG_AGAIN if advice == _WRONG and fetches_password() else advice


def _has_ended(error: psycopg.Error) -> bool:
    """Return whether the session could not begin, or has ended.

    The class of the driver's error does not tell: OperationalError is also that of time limits and locks.
    """
    if error.sqlstate is None:
        # InternalError: the driver could not parse the response, as when a pooler reports a lost server twice.
        return isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError))
    fatal = error.diag.severity_nonlocalized in ("FATAL", "PANIC")
    return fatal or error.sqlstate.startswith(("08", "57P"))


def _broken_rule(error: psycopg.Error) -> Exception:
    rule = error.diag.constraint_name or "unknown"
    if rule == "payload_fits":
        return PayloadError(rule, f"the payload is too large: {error.diag.message_primary}")
    if rule in LIMITS:
        return InvalidJobError(rule, _first_line(error))
    return InvalidJobError(rule, sentence(rule))


def _missing(error: psycopg.Error) -> Exception:
    column = error.diag.column_name or "a value"
    if column == "kind":
        return InvalidJobError("kind_is_a_name", sentence("kind_is_a_name"))
    fix = "set it, or leave it out so that its default applies"
    return InvalidJobError("value_is_set", f"{column} must not be null: {fix}")


def _taken(error: psycopg.Error) -> Exception:
    return KeyTakenError(_first_line(error))


def _schema(error: psycopg.Error) -> Exception:
    return SchemaError(f"the schema does not match this code ({_first_line(error)}); run: minutehand migrate")


def _first_line(error: psycopg.Error) -> str:
    if not str(error).strip():
        return "no response"
    return (error.diag.message_primary or str(error)).strip().splitlines()[0]


# In this order: Postgres (53300); PgBouncer; RDS Proxy, Neon and Supabase.
_BUSY = re.compile(
    r"too many (clients|connections)|connection slots are reserved"
    r"|no more connections allowed|server login has been failing|query_wait_timeout"
    r"|waiting to acquire|acquire permit|max client connections|max clients reached",
    re.IGNORECASE,
)
# 57P03 and similar.
_STARTING = re.compile(r"the database (system )?is |resuming", re.IGNORECASE)
_SLOW = ": no server responds at this address, or a paused one takes longer than MINUTEHAND_CONNECT_TIMEOUT to resume"
_WRONG = "; the user or the password in DATABASE_URL is wrong"
_WRONG_AGAIN = (
    "; the password or token is wrong, even after fetching it again: "
    "check the URL or the secret, and the role"
)
_ADVICE = [
    (
        re.compile(r"certificate verify failed|self.signed certificate", re.IGNORECASE),
        "; no trusted authority signed the certificate: name the authority's file as sslrootcert in the URL",
    ),
    (
        re.compile("does not match host name"),
        "; the certificate is for another host name: use that name in the URL, and hostaddr for the address",
    ),
    (
        re.compile("does not support SSL"),
        "; enable TLS on the server, or on a trusted network set sslmode=disable in the URL",
    ),
    (re.compile("root certificate file"), "; the file named by sslrootcert does not exist"),
    (_BUSY, "; all connections are in use: lower MINUTEHAND_CAPACITY, or use a pooler"),
    (_STARTING, "; the server is starting or stopping: the next tick will try again"),
    (
        re.compile("authentication failed|no password supplied"),
        _WRONG,
    ),
    (
        re.compile("(translate host name|resolve host)"),
        "; the host name in DATABASE_URL is wrong, or cannot be resolved here",
    ),
    (
        re.compile("Connection refused"),
        "; no server listens there: check the host and the port in DATABASE_URL, and start the server",
    ),
    (
        re.compile('database "[^"]*" does not exist'),
        "; create it, or correct its name at the end of DATABASE_URL",
    ),
]
_TRANSLATIONS: list[tuple[tuple[type[psycopg.Error], ...], Callable[[psycopg.Error], Exception]]] = [
    ((pg.CheckViolation,), _broken_rule),
    ((pg.UniqueViolation,), _taken),
    (
        (pg.UntranslatableCharacter, pg.CharacterNotInRepertoire),
        lambda _: InvalidJobError("text_is_text", sentence("text_is_text")),
    ),
    ((pg.NotNullViolation,), _missing),
    (
        (pg.SerializationFailure, pg.DeadlockDetected),
        lambda e: ConflictError(f"concurrent transactions conflicted ({_first_line(e)}); run yours again"),
    ),
    (
        (pg.QueryCanceled, pg.LockNotAvailable, pg.OutOfMemory, pg.DiskFull),
        lambda e: BusyError(f"the server gave up on the statement ({_first_line(e)}); try again later"),
    ),
    (
        (pg.StatementTooComplex, pg.ProgramLimitExceeded),
        lambda e: InvalidJobError("value_fits", f"{sentence('value_fits')}: {_first_line(e)}"),
    ),
    (
        (pg.InsufficientPrivilege,),
        lambda e: ForbiddenError(f"the database role may not do this: {_first_line(e)}"),
    ),
    (
        (pg.ReadOnlySqlTransaction,),
        lambda _: ReadOnlyError("the database is read-only: connect to a writable server"),
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
