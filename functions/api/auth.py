"""Auth: nobody comes in without a token, except from this very machine when that is asked for.

    MINUTEHAND_API_TOKENS          bearer tokens, comma-separated, of 16 characters or more; several to rotate.
                                   One may say whose it is: see `callers`
    MINUTEHAND_API_TOKENS_SECRET   instead of them: the secret that holds them
    MINUTEHAND_LOCAL               1 opens an API without tokens to the loopback, never in Lambda

A request that API Gateway's own authoriser (JWT, IAM, Lambda) let pass is let pass here.
"""

import os
from hmac import compare_digest
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from callers import Caller, read_tokens, vouched_for
from minutehand import ConfigurationError
from minutehand.settings import secret
from problems import Kind, ProblemError, answer_error
from watch import logger

OPEN_PATHS = {"/health", "/console", "/console.css", "/console.js"}
LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]"}
SAFE_METHODS = {"GET", "HEAD", "OPTIONS", "DELETE"}  # a form sends none but GET and POST; a script asks first
OWN_SITES = {"same-origin", "none"}

UNAUTHORISED = Kind(401, "unauthorised", "A token is needed")
CLOSED = Kind(503, "closed", "The API has no tokens yet")
FOREIGN = Kind(403, "foreign", "The open local API serves this machine only")
NOT_JSON = Kind(415, "not-json", "The content type is not application/json")


class Guard:
    """The layer that asks every request for its token before anything of it is read."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap an application."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through and note whose it is, or answer why not."""
        app = self._app
        if scope["type"] == "http":
            try:
                note_caller(scope, Caller() if scope["path"] in OPEN_PATHS else identify(scope))
            except ProblemError as refusal:
                app = answer_error(scope, refusal)
        await app(scope, receive, send)


def note_caller(scope: Scope, caller: Caller) -> None:
    """Put into the request's state whose it is: `who`, and the `tenant` that it is confined to."""
    scope.setdefault("state", {}).update(vars(caller))


def identify(scope: Scope) -> Caller:
    """Return whose request it is, or raise why it may not come in."""
    if caller := vouched_for(scope):
        return caller
    try:
        entries = [entry.strip() for entry in secret("MINUTEHAND_API_TOKENS").split(",") if entry.strip()]
    except ConfigurationError as error:
        logger.error(str(error))
        raise ProblemError(
            CLOSED, "The secret with the API's tokens cannot be read; the log says why."
        ) from None
    if entries:
        return _bearer(scope, entries)
    if _from_here(scope):
        _refuse_site(Headers(scope=scope), scope["method"])
        return Caller()
    raise ProblemError(
        CLOSED,
        "Set MINUTEHAND_API_TOKENS to one or more bearer tokens of at least 16 characters, separated by commas; "
        "or, on your own machine, MINUTEHAND_LOCAL=1 and come from the loopback.",
    )


def _bearer(scope: Scope, entries: list[str]) -> Caller:
    """Return whose token the request bears; all are compared, in constant time, and one is one caller's."""
    borne = _bearer_token(scope)
    callers = {token.caller for token in [*read_tokens(entries)] if compare_digest(token.secret, borne)}
    if len(callers) == 1:
        return callers.pop()
    if callers:
        logger.error("MINUTEHAND_API_TOKENS gives one token to several names or tenants; it is refused")
    raise ProblemError(
        UNAUTHORISED,
        "Send the header `Authorization: Bearer <token>` with one of the tokens in MINUTEHAND_API_TOKENS.",
        {"WWW-Authenticate": 'Bearer realm="minutehand"'},
    )


def _bearer_token(scope: Scope) -> bytes:
    borne = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
    if len(borne) != 1:
        return b""
    scheme, _, token = borne[0].partition(b" ")
    return bytes(token.strip()) if scheme.lower() == b"bearer" else b""


def _from_here(scope: Scope) -> bool:
    in_lambda = "aws.event" in scope or "AWS_LAMBDA_FUNCTION_NAME" in os.environ
    if os.environ.get("MINUTEHAND_LOCAL") != "1" or in_lambda:
        return False
    proxied = {b"forwarded", b"x-forwarded-for"} & {name.lower() for name, _ in scope["headers"]}
    try:
        return not proxied and ip_address((scope.get("client") or ("", 0))[0]).is_loopback
    except ValueError:
        return False


def _refuse_site(headers: Headers, method: str) -> None:
    """Keep other web sites out of an API without tokens, whose caller may be a browser that they remote-control."""
    if _host(headers.get("host", "")) not in LOCAL_HOSTS:
        raise ProblemError(FOREIGN, "Call it localhost, 127.0.0.1 or [::1].")
    own = headers.get("origin") in (None, f"http://{headers['host']}")
    if not own or headers.get("sec-fetch-site", "none") not in OWN_SITES:
        raise ProblemError(FOREIGN, "A page of another site may not call it.")
    if method not in SAFE_METHODS and media_type(headers) != "application/json":
        raise ProblemError(
            NOT_JSON, "Send the header `Content-Type: application/json`, which no foreign form can."
        )


def _host(authority: str) -> str:
    name, colon, port = authority.rpartition(":")
    return (name if colon and port.isdigit() else authority).lower()


def media_type(headers: Headers) -> str:
    """Return the content type without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()
