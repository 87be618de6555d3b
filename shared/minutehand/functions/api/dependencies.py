"""What the endpoints depend on: the caller, and a database confined to the caller's tenant.

A request has a database to itself; in Lambda it is always the same one. No endpoint has to filter by tenant.
"""

from collections.abc import Iterator
from queue import Empty, LifoQueue
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Request, Security
from fastapi.security import HTTPBearer

from minutehand.database import Database
from minutehand.database.tenants import TenantDatabase
from minutehand.functions.api.errors import ApiError, ProblemType
from minutehand.functions.api.json_body import StrictRoute
from minutehand.settings import database_url, sleeps

POOL_SIZE = 8
# Less than a caller or a gateway waits, so that the caller learns why.
WAIT_SECONDS = 10.0
_idle: LifoQueue[Database] = LifoQueue()
for _ in range(POOL_SIZE):
    _idle.put(Database(database_url))

ALL_IN_USE = ProblemType(503, "unavailable", "All connections are in use")
ALL_TENANTS_ONLY = ProblemType(403, "not-a-tenants", "The operation concerns all tenants")

bearer = HTTPBearer(auto_error=False, description="one of the tokens in MINUTEHAND_API_TOKENS")


def create_router(tag: str, prefix: str = "") -> APIRouter:
    """Return a router whose endpoints require a token and read strict JSON."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=StrictRoute, dependencies=[Security(bearer)])


def connect() -> Iterator[Database]:
    """Lend the database that was used last: its connection is the most likely to be open.

    Raises ApiError if all are in use for ten seconds.
    """
    try:
        database = _idle.get(timeout=WAIT_SECONDS)
    except Empty:
        raise ApiError(ALL_IN_USE, _all_in_use()) from None
    try:
        yield database
    finally:
        if sleeps():
            # An open connection keeps a database awake.
            database.close()
        _idle.put(database)


def _all_in_use() -> str:
    return (
        f"All {POOL_SIZE} connections of the API to the database were in use for {WAIT_SECONDS:g} s; try again. "
        "If it lasts, look in pg_stat_activity for statements that wait for a lock."
    )


async def confine(request: Request, database: Annotated[Database, Depends(connect)]) -> Database:
    """Return the database confined to the caller's tenant, or all of it if the caller has none."""
    tenant = request.state.tenant
    return TenantDatabase(database, tenant) if tenant else database


async def require_all_tenants(request: Request, database: Annotated[Database, Depends(connect)]) -> Database:
    """Return the whole database; raise ApiError for a caller that is confined to a tenant."""
    if request.state.tenant:
        raise ApiError(ALL_TENANTS_ONLY, "Use a token without a tenant.")
    return database


async def get_actor(request: Request) -> str | None:
    """Return the name of the caller's token, or the subject of the gateway's authorizer."""
    actor: str | None = request.state.actor
    return actor


Connected = Annotated[Database, Depends(confine)]
ConnectedToAll = Annotated[Database, Depends(require_all_tenants)]
Actor = Annotated[str | None, Depends(get_actor)]
JobId = Annotated[UUID, Path(alias="id", description="the id that enqueuing the job returned")]
