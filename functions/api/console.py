"""Console: a page that shows jobs and schedules and changes them, through the same REST as everybody else."""

import os
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import Response

from problems import Kind, ProblemError

PAGES = Path(__file__).parent / "pages"
FILES = {
    "/console": ("index.html", "text/html"),
    "/console.css": ("console.css", "text/css"),
    "/console.js": ("console.js", "text/javascript"),
}
# Only its own script and style, only its own API, in nobody's frame.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
NOT_SERVED = Kind(404, "not-found", "There is no such page")

console = APIRouter(include_in_schema=False)


def is_served() -> bool:
    """Whether there is a page: on one's own machine, or where MINUTEHAND_CONSOLE=1 says so."""
    return "1" in (os.environ.get("MINUTEHAND_CONSOLE"), os.environ.get("MINUTEHAND_LOCAL"))


@console.get("/console")
@console.get("/console.css")
@console.get("/console.js")
def serve_page(request: Request) -> Response:
    """Serve a file of the page. It has no data in it, and asks for a token where one is needed."""
    if not is_served():
        raise ProblemError(NOT_SERVED, "The console is served where MINUTEHAND_CONSOLE=1 says so.")
    name, kind = FILES[request.url.path]
    return Response((PAGES / name).read_bytes(), media_type=f"{kind}; charset=utf-8", headers=HEADERS)
