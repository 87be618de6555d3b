"""The console: pages that show and change jobs through the REST API."""

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from minutehand.functions.api import console_files
from minutehand.functions.api.errors import ApiError, ProblemType
from minutehand.settings.table import CONSOLE, LOCAL

# Only its own scripts, styles and API; no text becomes HTML or code; no page may embed it.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
IMMUTABLE = {"Cache-Control": "public, max-age=31536000, immutable"}
# Without a link, because the decoded path does not show how far below /console the browser is.
NO_PAGE = (
    "<!doctype html><html lang=en><title>Page not found</title>"
    "<h1>There is no page at this address</h1><p>Remove what follows /console from the address."
)
NOT_SERVED = ProblemType(404, "not-found", "The page does not exist")

router = APIRouter(include_in_schema=False)


def is_served() -> bool:
    """Return whether the console is enabled: in a local run, or by MINUTEHAND_CONSOLE=1."""
    return CONSOLE.read() or LOCAL.read()


@router.get("/")
def redirect_to_console() -> Response:
    """Redirect to the console, relative to the API's prefix."""
    _check_served()
    return RedirectResponse("console", status_code=307)


@router.get("/console/static/{version}/{name:path}")
def serve_file(version: str, name: str) -> Response:
    """Serve a script or the styles. A browser keeps them: another version has another address."""
    _check_served()
    content = console_files.files().get(name)
    if content is None or version != console_files.version():
        raise ApiError(NOT_SERVED, "The console was updated; reload the page.")
    return Response(content, media_type=console_files.media_type(name), headers=HEADERS | IMMUTABLE)


@router.get("/console")
@router.get("/console/{path:path}")
def serve_page(request: Request) -> Response:
    """Serve the page that shows every view. It contains no data, and asks for a token if the API requires one."""
    _check_served()
    path = request.scope["path"].removeprefix(request.scope.get("root_path", "")).removeprefix("/console")
    if not console_files.is_page(path):
        return Response(NO_PAGE, 404, media_type="text/html; charset=utf-8", headers=HEADERS)
    return Response(console_files.index(path), media_type="text/html; charset=utf-8", headers=HEADERS)


def _check_served() -> None:
    if not is_served():
        raise ApiError(NOT_SERVED, "To enable the console, set MINUTEHAND_CONSOLE=1.")
