"""API: jobs over HTTP, served in Lambda behind API Gateway, and on the loopback of a local run."""

from typing import Any

from aws_lambda_powertools.logging import correlation_paths
from fastapi import FastAPI
from mangum import Mangum

from auth import Guard
from console import console
from control import control
from counts import counts
from history import history
from minutehand import __version__
from openapi import describe_api
from problems import INTERNAL, answer, describe, tell_problems
from routes import health, jobs
from schedules import schedules
from watch import Watch, logger, metrics

# No page of documentation: FastAPI's is loaded from other people's servers. The schema is behind the token.
app = FastAPI(
    title="minutehand", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False,
)  # fmt: skip
app.openapi = lambda: describe_api(app)  # type: ignore[method-assign]
for router in (control, jobs, history, counts, schedules, health, console):
    app.include_router(router)
tell_problems(app)
app.add_middleware(Guard)
app.add_middleware(Watch, crashed=answer(describe(INTERNAL, None)))

_answer = Mangum(app, lifespan="off", text_mime_types=["application/json", "application/problem+json"])


@logger.inject_lambda_context(correlation_id_path=correlation_paths.API_GATEWAY_HTTP)
@metrics.log_metrics
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer a request of an HTTP API or a function URL."""
    return _answer(event, context)
