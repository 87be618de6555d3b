"""Preparing: which statements the server keeps parsed and planned, on our own connections only.

A prepared statement belongs to a server session. A transaction pooler lets clients share sessions, and reveals itself:
the process id that it announces is not that of the server process. Then nothing is prepared. A stored plan also ignores
that a table has grown since, until the next ANALYZE: one made for an empty table reads all of it. And when a table has
grown, the server may plan a statement again for each execution, because it compares the cost of the stored plan with
that of the first executions. So every few seconds, the process id is compared, and all stored plans and prepared
statements of the session are discarded.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from secrets import token_hex
from time import time
from typing import TYPE_CHECKING, Any, LiteralString

import psycopg
from psycopg import errors
from psycopg.pq import PipelineStatus, TransactionStatus

from minutehand.database.completing import complete
from minutehand.database.fetching import Record, fetch_async
from minutehand.database.statements import statement
from minutehand.database.tls import is_rds_proxy
from minutehand.settings import prepares

if TYPE_CHECKING:
    from minutehand.database.direct import Direct, Statement

AnyConnection = psycopg.Connection[Any] | psycopg.AsyncConnection[Any]

# The statements that run once per job or more often, and whose plans are the same for all parameters.
PREPARED = frozenset(
    {
        "check_claim",
        "claim",
        "count_due",
        "enqueue",
        "enqueue_plain",
        "extend",
        "finish",
        "finish_done",
        "finish_in_batch",
        "release",
        "take",
        "take_ahead",
    }
)
# How often a statement runs before it is prepared, which takes one more round trip; a cold start prepares nothing.
USES = 5
FRESH_SECONDS = 5.0
# The driver drops the least recently used statement. There is one for each combination of parameter types.
MOST = 32
# Errors of statements that were dropped, that another client prepared under the name, or whose result changed.
STALE = (errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement, errors.FeatureNotSupported)

PROCESS: LiteralString = "select pg_backend_pid()"
# Those of the schema's functions, too.
DISCARD_PLANS: LiteralString = "discard plans"
DROP_ALL: LiteralString = "deallocate all -- "


class Preparing:
    """The prepared statements of one connection.

    Statements in a transaction are not prepared: an error of a prepared statement would abort the transaction, while
    outside of it, the statement runs again, unprepared.
    """

    def __init__(self, connection: AnyConnection) -> None:
        """Prepare nothing yet."""
        connection.prepared_max = MOST
        self._connection = connection
        mode = prepares()
        self._off = mode == "never" or (mode == "auto" and is_rds_proxy(connection.info.host))
        self._verifying = mode != "always"
        self._began, self._uses = -inf, dict[str, float]()
        # The statements that ran often in the period before this one, which are prepared at once.
        self._often: set[str] = set()
        self._renewed = self._prepared = False
        self._direct: Direct | None = None

    def is_due(self, name: str) -> bool:
        """Count one use of a statement, and return whether it may be prepared now."""
        if self._off or name not in PREPARED:
            return False
        # By the wall clock, since the monotonic one may stop while the process is frozen.
        if not 0 <= (passed := time() - self._began) < FRESH_SECONDS:
            self._began, self._renewed = time(), False
            # After a pause, what ran often before may run a few times only.
            continues = 0 <= passed < 2 * FRESH_SECONDS
            self._often = {each for each, uses in self._uses.items() if continues and uses > USES}
            self._uses.clear()
        self._uses[name] = uses = self._uses.get(name, 0) + 1
        pgconn = self._connection.pgconn
        return (
            (uses > USES or (uses > 0 and name in self._often))
            and pgconn.transaction_status == TransactionStatus.IDLE
            and pgconn.pipeline_status == PipelineStatus.OFF
            # Values are encoded once for all connections.
            and pgconn.parameter_status(b"client_encoding") == b"UTF8"
        )

    @property
    def renewed(self) -> bool:
        """Whether preparing is known to be safe in this period, so that `renew` has nothing to do."""
        return self._renewed

    async def renew(self, run: Callable[[LiteralString], Awaitable[object]]) -> bool:
        """Once in a period, compare the process ids and prepare again; return whether preparing is safe."""
        if self._renewed:
            return True
        announced = self._connection.pgconn.backend_pid
        if self._verifying and await run(PROCESS) != [{"pg_backend_pid": announced}]:
            self._off = True
            return False
        if self._prepared:
            await run(DISCARD_PLANS)
            with self.allowed():
                # The driver notices only a text that it sees for the first time.
                await run(DROP_ALL + token_hex(4))
            if self._direct is not None:
                self._direct.forget()
        self._renewed, self._prepared = True, False
        return True

    @property
    def direct(self) -> "Direct":
        """The prepared statements of a connection that is not async."""
        if self._direct is None:
            # Imported only when used, for the sake of cold starts.
            from minutehand.database.direct import Direct

            assert isinstance(self._connection, psycopg.Connection)
            self._direct = Direct(self._connection, MOST)
        self._prepared = True
        return self._direct

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let the driver prepare the statement of this block, but none of a handler."""
        self._connection.prepare_threshold, self._prepared = 1, True
        try:
            yield
        finally:
            self._connection.prepare_threshold = None

    def fails(self, name: str, error: psycopg.Error) -> bool:
        """Return whether the failure of a statement is due to preparing; then prepare it in the next period only."""
        if not isinstance(error, STALE):
            return False
        self._uses[name] = -inf
        return True


def execute_prepared(
    preparing: Preparing, statements: "Sequence[Statement]", run: Callable[[LiteralString], list[Record]]
) -> list[list[Record]] | None:
    """Run statements as prepared ones, in one transaction; return None if they have to run unprepared."""

    async def run_text(text: LiteralString) -> list[Record]:
        return run(text)

    due = [preparing.is_due(name) for name, _, _ in statements]
    if not all(due) or not (preparing.renewed or complete(preparing.renew(run_text))):
        return None
    try:
        return preparing.direct.run(statements)
    except psycopg.Error as error:
        stale = [preparing.fails(name, error) for name, _, _ in statements]
        if not all(stale):
            raise
        return None


async def execute_prepared_async(
    preparing: Preparing, cursor: psycopg.AsyncCursor[Record], name: str, parameters: Record
) -> bool:
    """Do what `execute_prepared` does, on an async cursor."""

    async def run(text: LiteralString) -> list[Record]:
        return await fetch_async(await cursor.execute(text))

    if not preparing.is_due(name) or not await preparing.renew(run):
        return False
    try:
        with preparing.allowed():
            await cursor.execute(statement(name), parameters)
    except psycopg.Error as error:
        if not preparing.fails(name, error):
            raise
        return False
    return True
