"""Tenants: row-level security in Postgres confines a session to the jobs of one tenant.

The tenant is set for one transaction. So it works through a transaction pooler, and later transactions do not inherit
it.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from minutehand.database import Connectable, Connection, Database, Record, database_of
from minutehand.database.after_commit import Call
from minutehand.errors import InvalidJobError
from minutehand.model.rules import sentence

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}")


@contextmanager
def as_tenant(connection: Connectable | None, tenant: str) -> Iterator[Database]:
    """Open a transaction that sees only this tenant's jobs; jobs enqueued in it belong to the tenant.

    Pass your own connection, or None for the environment's. In your own transaction it is a savepoint, after which the
    former role applies. A login that bypasses the policies becomes `minutehand_tenant` or `minutehand_operator` in the
    block, and cannot access your own tables there; so do not let your application log in as owner or worker.
    """
    database = TenantDatabase(database_of(connection), tenant)
    with database.transaction():
        yield database


class TenantDatabase(Database):
    """A database confined to one tenant: each transaction begins by setting the tenant."""

    def __init__(self, whole: Database, tenant: str) -> None:
        """Confine a database; the connection stays shared with it."""
        super().__init__("")
        self.turn = whole.turn
        self._whole = whole
        self._tenant = check_tenant(tenant)
        self._within = False

    @property
    def tenant(self) -> str:
        """The tenant's name."""
        return self._tenant

    @property
    def connection(self) -> Connection:
        """The open connection."""
        return self._whole.connection

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open on the connection."""
        return self._whole.in_transaction

    def close(self) -> None:
        """Close the connection."""
        self._whole.close()

    @property
    def autocommit(self) -> bool:
        """Whether statements outside `transaction` commit on their own."""
        return self._whole.autocommit

    def after_commit(self, call: Call) -> bool:
        """Run a call after the open transaction commits; return False if its commit is not visible here."""
        return self._whole.after_commit(call)

    def execute_each(self, name: str, parameters: Iterable[Record]) -> list[Record]:
        """Run a named statement of one row for each of these parameters, in a transaction; return the rows."""
        with self.transaction():
            return self._whole.execute_each(name, parameters)

    def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows with a named COPY statement."""
        with self.transaction():
            self._whole.copy(name, rows)

    @contextmanager
    def transaction(self, *, raw_errors: bool = False) -> Iterator[Connection]:
        """Open a transaction confined to the tenant, or a savepoint inside the open one."""
        with self.turn:
            nested, within_caller = self._within, self.in_transaction
            with self._whole.transaction(raw_errors=raw_errors) as connection:
                if nested:
                    yield connection
                    return
                was = self._whole.execute("as_tenant", {"tenant": self._tenant})[0]
                self._within = True
                try:
                    yield connection
                finally:
                    self._within = False
                if within_caller:
                    self._whole.execute(
                        "leave_tenant", {"tenant": was["was_tenant"], "role": was["was_role"]}
                    )

    def execute(self, name: str, parameters: Record) -> list[Record]:
        """Run a named statement once, in a transaction that is confined to the tenant."""
        # In its turn: another thread may be about to leave its transaction.
        with self.turn:
            if self._within:
                return self._whole.execute(name, parameters)
            with self.transaction():
                return self._whole.execute(name, parameters)


def is_tenant(name: str) -> bool:
    """Return whether a text is a valid tenant name."""
    return _NAME.fullmatch(name) is not None


def check_tenant(name: str) -> str:
    """Return a tenant's name; raise InvalidJobError if it is not valid."""
    if not isinstance(name, str) or not is_tenant(name):
        raise InvalidJobError("tenant_is_a_name", sentence("tenant_is_a_name"))
    return name
