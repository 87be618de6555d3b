"""The API's application, served in Lambda behind API Gateway and on the loopback in a local run."""

from typing import Any

from fastapi import FastAPI
from mangum import Mangum

from minutehand import __version__
from minutehand.functions.api.auth import Guard
from minutehand.functions.api.errors import INTERNAL, install_error_handlers, problem, problem_response
from minutehand.functions.api.openapi import build_schema
from minutehand.functions.api.request_log import RequestLog, logger, metrics
from minutehand.functions.api.resources import AddRouters, Resources

# FastAPI's documentation page loads scripts from other servers, so there is none. The schema requires a token.
app = FastAPI(title="minutehand", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
resources = Resources(app)
app.openapi = lambda: build_schema(app, resources)  # type: ignore[method-assign]
install_error_handlers(app)
app.add_middleware(AddRouters, resources=resources)
app.add_middleware(Guard)
app.add_middleware(RequestLog, on_crash=problem_response(problem(INTERNAL, None)))

_respond = Mangum(app, lifespan="off", text_mime_types=["application/json", "application/problem+json"])


@logger.inject_lambda_context
@metrics.log_metrics
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer a request of an HTTP API or a function URL."""
    return _respond(event, context)
