"""What a month of work cost."""

from datetime import timedelta
from typing import Annotated, cast

from fastapi import Query

from minutehand.costs.dispatcher import Mode
from minutehand.costs.month import parse_month
from minutehand.costs.monthly_report import report_month
from minutehand.costs.prices import read_prices
from minutehand.database.driver_errors import was_canceled
from minutehand.errors import BusyError, ConfigurationError, InvalidJobError
from minutehand.functions.api.dependencies import ConnectedToAll, create_router
from minutehand.functions.api.errors import ApiError, ProblemType
from minutehand.functions.api.openapi import COMMON, responds
from minutehand.functions.api.responses import Json
from minutehand.functions.api.schemas import cost as schemas
from minutehand.functions.api.schemas.cost import CostFilter, cost_fields
from minutehand.settings.table import MODE

# For each of three statements: API Gateway waits for 30 seconds.
LIMIT = timedelta(seconds=10)
TOO_LONG = ProblemType(503, "unavailable", "Reading the month takes too long")

router = create_router("system")


@router.get("/cost", **responds(200, "The costs", schemas.Cost, schemas.COST, *COMMON))
def get_cost(filters: Annotated[CostFilter, Query()], database: ConnectedToAll) -> Json:
    """Report what a month of work cost on AWS in dollars, by kind, and what it would have cost elsewhere.

    It reads the month's attempts and finished jobs, which takes time in proportion to their number: if it takes too
    long, run `minutehand cost`, which has no time limit. Cold starts of workers, the other modes and the other services
    are estimates with the figures of the table of prices.
    """
    prices, mode = read_prices(), filters.mode or _mode()
    try:
        month = parse_month(filters.month) if filters.month else None
        found = report_month(database, month, prices, filters.architecture, mode, limit=LIMIT)
    except BusyError as error:
        # A lack of memory or disk space, or a lock of another session, has another remedy.
        if not was_canceled(error):
            raise
        raise ApiError(TOO_LONG, "Run `minutehand cost`, which has no time limit.") from None
    except ConfigurationError as error:
        raise InvalidJobError("month_has_a_report", str(error)) from None
    return Json(cost_fields(found, prices))


def _mode() -> Mode:
    return cast(Mode, MODE.read())
