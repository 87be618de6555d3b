"""The console: a page that shows and changes jobs and schedules through the REST API."""

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response

from minutehand.functions.api.errors import ApiError, ProblemType
from minutehand.settings.table import CONSOLE, LOCAL

PAGES = Path(__file__).parents[1] / "pages"
FILES = {
    "/console": ("index.html", "text/html"),
    "/console.css": ("console.css", "text/css"),
    "/console.js": ("console.js", "text/javascript"),
}
# Only its own script, style and API; no page may embed it.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
NOT_SERVED = ProblemType(404, "not-found", "The page does not exist")

router = APIRouter(include_in_schema=False)


def is_served() -> bool:
    """Return whether the console is enabled: in a local run, or by MINUTEHAND_CONSOLE=1."""
    return CONSOLE.read() or LOCAL.read()


@router.get("/console")
@router.get("/console.css")
@router.get("/console.js")
def serve_page(request: Request) -> Response:
    """Serve a file of the page. It contains no data, and asks the user for a token if the API requires one."""
    if not is_served():
        raise ApiError(NOT_SERVED, "To enable the console, set MINUTEHAND_CONSOLE=1.")
    name, kind = FILES[request.url.path]
    return Response((PAGES / name).read_bytes(), media_type=f"{kind}; charset=utf-8", headers=HEADERS)
