"""Authenticate every request by a token, except on the local machine if that is enabled.

    MINUTEHAND_API_TOKENS          bearer tokens of at least 16 characters, comma-separated, several while they are
                                   rotated. A token may name its owner: see `callers`
    MINUTEHAND_API_TOKENS_SECRET   the secret that contains the tokens, as an alternative
    MINUTEHAND_LOCAL               1 opens an API without tokens to the loopback, but never in Lambda; with or without
                                   tokens, it rejects requests that pages of other sites make there

A request that API Gateway's authorizer (JWT, IAM, Lambda) accepted is accepted here.
"""

from hmac import compare_digest
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from minutehand.errors import ConfigurationError
from minutehand.functions.api.callers import Caller, authorized_caller, read_tokens
from minutehand.functions.api.errors import ApiError, ProblemType, error_response
from minutehand.functions.api.request_log import logger
from minutehand.settings import is_local, secret

OPEN_PATHS = {"/", "/health", "/console"}
OPEN_PREFIX = "/console/"
LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]"}
# An HTML form can send only GET and POST. A script of another site needs a preflight request for the others.
SAFE_METHODS = {"GET", "HEAD", "OPTIONS", "DELETE"}
# A reader may send only these, and what computes without a change.
READING_METHODS = {"GET", "HEAD", "OPTIONS"}
READING_REQUESTS = {("POST", "/schedules/preview")}
SAFE_SITES = {"same-origin", "none"}

UNAUTHORIZED = ProblemType(401, "unauthorized", "A valid token is required")
CLOSED = ProblemType(503, "closed", "The API has no tokens")
FOREIGN = ProblemType(403, "foreign", "The local API accepts requests from this machine only")
READ_ONLY = ProblemType(403, "read-only", "The caller may only read")
NOT_JSON = ProblemType(415, "not-json", "The content type must be application/json")


class Guard:
    """The middleware that authenticates every request before its body is read."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Authenticate a request, then pass it on or answer with a problem."""
        app = self._app
        if scope["type"] == "http":
            try:
                set_caller(
                    scope,
                    *(open_caller(scope) if is_open(scope["path"]) else (authenticate(scope), True)),
                )
            except ApiError as refusal:
                app = error_response(scope, refusal)
        await app(scope, receive, send)


def is_open(path: str) -> bool:
    """Return whether a path needs no token: health, and the console, whose files contain no data."""
    return path in OPEN_PATHS or path.startswith(OPEN_PREFIX)


def set_caller(scope: Scope, caller: Caller, authenticated: bool) -> None:
    """Set the request's `actor`, the `tenant` that it is confined to, and whether it is `authenticated`."""
    reads = scope["method"] in READING_METHODS or (scope["method"], scope["path"]) in READING_REQUESTS
    if caller.reader and not reads:
        raise ApiError(
            READ_ONLY,
            "A token with +read, or the role reader, can only read; use the token of an operator.",
        )
    scope.setdefault("state", {}).update(vars(caller), authenticated=authenticated)


def open_caller(scope: Scope) -> tuple[Caller, bool]:
    """Return the caller of an open path, and whether it is authenticated; raise ApiError for another site's host."""
    if _is_local(scope):
        _reject_other_hosts(Headers(scope=scope))
    try:
        return authenticate(scope), True
    except ApiError:
        return Caller(), False


def authenticate(scope: Scope) -> Caller:
    """Return the caller of a request; raise ApiError if it is not authenticated."""
    if caller := authorized_caller(scope):
        return caller
    local = _is_local(scope)
    if local:
        _reject_other_sites(Headers(scope=scope), scope["method"])
    try:
        entries = [entry.strip() for entry in secret("MINUTEHAND_API_TOKENS").split(",") if entry.strip()]
    except ConfigurationError as error:
        logger.error(str(error))
        raise ApiError(
            CLOSED, "The secret with the API's tokens cannot be read; see the API's log."
        ) from None
    if entries:
        return _bearer(scope, entries)
    if local:
        return Caller()
    raise ApiError(
        CLOSED,
        "Set MINUTEHAND_API_TOKENS to one or more bearer tokens of at least 16 characters, separated by commas; "
        "or, on your own machine, set MINUTEHAND_LOCAL=1 and connect from the loopback.",
    )


def _bearer(scope: Scope, entries: list[str]) -> Caller:
    """Return the caller of the request's token; it is compared with all tokens in constant time."""
    sent = _bearer_token(scope)
    callers = {token.caller for token in [*read_tokens(entries)] if compare_digest(token.secret, sent)}
    if len(callers) == 1:
        return callers.pop()
    if callers:
        logger.error("a token in MINUTEHAND_API_TOKENS has several names or tenants; it is rejected")
    raise ApiError(
        UNAUTHORIZED,
        "Send the header `Authorization: Bearer <token>` with one of the tokens in MINUTEHAND_API_TOKENS.",
        {"WWW-Authenticate": 'Bearer realm="minutehand"'},
    )


def _bearer_token(scope: Scope) -> bytes:
    values = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    if len(values) != 1:
        return b""
    scheme, _, token = values[0].partition(b" ")
    return bytes(token.strip()) if scheme.lower() == b"bearer" else b""


def _is_local(scope: Scope) -> bool:
    try:
        if "aws.event" in scope or not is_local():
            return False
    except ConfigurationError as error:
        # An invalid value keeps the API closed.
        logger.error(str(error))
        return False
    proxied = {b"forwarded", b"x-forwarded-for"} & {name.lower() for name, _ in scope["headers"]}
    try:
        return not proxied and ip_address((scope.get("client") or ("", 0))[0]).is_loopback
    except ValueError:
        return False


def _reject_other_sites(headers: Headers, method: str) -> None:
    """Reject requests that another web site makes through the user's browser to a local API."""
    _reject_other_hosts(headers)
    same_origin = headers.get("origin") in (None, f"http://{headers['host']}")
    if not same_origin or headers.get("sec-fetch-site", "none") not in SAFE_SITES:
        raise ApiError(FOREIGN, "Pages of other sites must not call the local API.")
    if method not in SAFE_METHODS and media_type(headers) != "application/json":
        raise ApiError(NOT_JSON, "Send the header `Content-Type: application/json`.")


def _reject_other_hosts(headers: Headers) -> None:
    """Reject a host name of another site, which that site may resolve to the loopback (DNS rebinding)."""
    if _host(headers.get("host", "")) not in LOCAL_HOSTS:
        raise ApiError(FOREIGN, "The host must be localhost, 127.0.0.1 or [::1].")


def _host(authority: str) -> str:
    name, colon, port = authority.rpartition(":")
    return (name if colon and port.isdigit() else authority).lower()


def media_type(headers: Headers) -> str:
    """Return the content type without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()
