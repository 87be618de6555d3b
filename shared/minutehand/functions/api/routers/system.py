"""The state of the installation."""

from fastapi import Request

from minutehand.functions.api.dependencies import ConnectedToAll, create_router
from minutehand.functions.api.findings import examiner
from minutehand.functions.api.openapi import COMMON, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import system as schemas
from minutehand.functions.api.schemas.system import system_fields
from minutehand.queries.system import system
from minutehand.settings.table import CAPACITY

router = create_router("system")


@router.get("/system", **responds(200, "The state", schemas.System, schemas.SYSTEM, *COMMON))
def get_system(request: Request, database: ConnectedToAll) -> Json:
    """Return the latest ticks, the capacity and the budgets in use, the workers' versions, and the doctor's findings.

    Its cost does not depend on the number of jobs, and the doctor examines the database at most once a minute.
    A request that comes during an examination gets the findings of the one before.
    """
    found = system(database)
    capacity = CAPACITY.read() if found.capacity is None else found.capacity
    examination = examiner.examine(database, capacity, found.now, stacked="aws.event" in request.scope)
    return Json(system_fields(found, examination))
