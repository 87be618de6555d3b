"""Connections: a request has a database of its own while it lasts; in Lambda it is always the same one.

It is confined to the tenant of the request's token, so that no route has to think of tenants.
"""

from collections.abc import Iterator
from queue import LifoQueue
from typing import Annotated

from fastapi import Depends, Request

from minutehand import Database
from minutehand.database.tenants import TenantDatabase
from minutehand.settings import database_url
from problems import Kind, ProblemError

MOST = 8
_idle: LifoQueue[Database] = LifoQueue()
for _ in range(MOST):
    _idle.put(Database(database_url))

NOT_A_TENANTS = Kind(403, "not-a-tenants", "This belongs to no tenant")


def connect() -> Iterator[Database]:
    """Lend the database that was used last, whose connection is the likeliest to be open."""
    database = _idle.get()
    try:
        yield database
    finally:
        _idle.put(database)


async def confine(request: Request, database: Annotated[Database, Depends(connect)]) -> Database:
    """Return the database as the caller's tenant sees it, or whole to those who have none."""
    tenant = request.state.tenant
    return TenantDatabase(database, tenant) if tenant else database


async def refuse_tenants(request: Request, database: Annotated[Database, Depends(connect)]) -> Database:
    """Return the whole database, for what concerns every tenant; one of them is refused."""
    if request.state.tenant:
        raise ProblemError(NOT_A_TENANTS, "It concerns all tenants: use a token that names none.")
    return database


async def name_caller(request: Request) -> str | None:
    """Return the name of the caller's token, or its authoriser's subject."""
    who: str | None = request.state.who
    return who


Connected = Annotated[Database, Depends(confine)]
ConnectedToAll = Annotated[Database, Depends(refuse_tenants)]
Who = Annotated[str | None, Depends(name_caller)]
