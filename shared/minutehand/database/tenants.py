"""Tenant: a part of one queue's jobs that nobody confined to it can see beyond, held by Postgres's row-level security.

It is said once for a transaction, so it goes through a transaction pooler, and no later transaction inherits it.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from minutehand.database import Connection, Database, Record, database_of
from minutehand.errors import InvalidJobError
from minutehand.model.rules import sentence

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}")


@contextmanager
def as_tenant(connection: Connection | Database | None, tenant: str) -> Iterator[Database]:
    """Open a transaction in which only this tenant's jobs exist; what is enqueued in it is the tenant's.

    With your own connection, or None for the environment's. Inside your own transaction it is a savepoint, after
    which all is as before. A login that no policy confines becomes `minutehand_tenant` or `minutehand_operator`
    meanwhile, and cannot reach your own tables then: have your application log in as neither owner nor worker.
    """
    database = TenantDatabase(database_of(connection), tenant)
    with database.transaction():
        yield database


class TenantDatabase(Database):
    """Another database as one tenant sees it: each transaction begins by saying whose it is."""

    def __init__(self, whole: Database, tenant: str) -> None:
        """Confine a database, whose connection goes on being its own."""
        super().__init__("")
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

    def copy(self, name: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Send rows through the COPY statement of that name."""
        with self.transaction():
            super().copy(name, rows)

    @contextmanager
    def transaction(self, *, lent: bool = False) -> Iterator[Connection]:
        """Open a transaction of the tenant's, or a savepoint inside the one that is open."""
        nested, theirs = self._within, self.in_transaction
        with super().transaction(raw_errors=lent) as connection:
            if nested:
                yield connection
                return
            was = super()._run("as_tenant", {"tenant": self._tenant})[0]
            self._within = True
            try:
                yield connection
            finally:
                self._within = False
            if theirs:
                super()._run("leave_tenant", {"tenant": was["was_tenant"], "role": was["was_role"]})

    def _run(self, name: str, parameters: Record) -> list[Record]:
        if self._within:
            return super()._run(name, parameters)
        with self.transaction():
            return super()._run(name, parameters)


def is_tenant(name: str) -> bool:
    """Whether a text can be a tenant's name."""
    return _NAME.fullmatch(name) is not None


def check_tenant(name: str) -> str:
    """Return the name of a tenant; raise InvalidJobError for what cannot be one."""
    if not isinstance(name, str) or not is_tenant(name):
        raise InvalidJobError("tenant_is_a_name", sentence("tenant_is_a_name"))
    return name
