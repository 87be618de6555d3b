"""Auth: nobody comes in without a token, except from this very machine when that is asked for.

    MINUTEHAND_API_TOKENS          bearer tokens, comma-separated, of 16 characters or more; several to rotate
    MINUTEHAND_API_TOKENS_SECRET   instead of them: the secret that holds them
    MINUTEHAND_LOCAL               1 opens an API without tokens to the loopback, never in Lambda

A request that API Gateway's own authoriser (JWT, IAM, Lambda) let pass is let pass here.
"""

import os
from hmac import compare_digest
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from minutehand import ConfigurationError
from minutehand.settings import secret
from problems import Kind, ProblemError, answer_error
from watch import logger

OPEN_PATHS = {"/health"}
TOKEN_CHARACTERS = 16
LOCAL_HOSTS = {"localhost", "127.0.0.1", "[::1]"}
SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
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
        """Let a request through, or answer why not."""
        refusal = refuse(scope) if scope["type"] == "http" and scope["path"] not in OPEN_PATHS else None
        await (self._app if refusal is None else answer_error(scope, refusal))(scope, receive, send)


def refuse(scope: Scope) -> ProblemError | None:
    """Return why a request may not come in, or None if it may."""
    if _vouched_for(scope):
        return None
    try:
        tokens = [token.strip() for token in secret("MINUTEHAND_API_TOKENS").split(",") if token.strip()]
    except ConfigurationError as error:
        logger.error(str(error))
        return ProblemError(CLOSED, "The secret with the API's tokens cannot be read; the log says why.")
    if tokens:
        return _refuse_bearer(scope, tokens)
    if _from_here(scope):
        return _refuse_site(Headers(scope=scope), scope["method"])
    return ProblemError(
        CLOSED,
        "Set MINUTEHAND_API_TOKENS to one or more bearer tokens of at least 16 characters, separated by commas; "
        "or, on your own machine, MINUTEHAND_LOCAL=1 and come from the loopback.",
    )


def _vouched_for(scope: Scope) -> bool:
    """Only Lambda can put an event into the scope, and only API Gateway an authoriser into that."""
    context = scope.get("aws.event", {}).get("requestContext") or {}
    authorizer = context.get("authorizer") or {}
    return any(authorizer.get(kind) for kind in ("jwt", "iam", "lambda"))


def _refuse_bearer(scope: Scope, tokens: list[str]) -> ProblemError | None:
    long_enough = [token.encode() for token in tokens if len(token) >= TOKEN_CHARACTERS]
    if len(long_enough) < len(tokens):
        logger.error(
            f"MINUTEHAND_API_TOKENS has a token of less than {TOKEN_CHARACTERS} characters; it is ignored"
        )
    borne = _bearer_token(scope)
    if any([compare_digest(token, borne) for token in long_enough]):  # noqa: C419 all of them, in constant time
        return None
    return ProblemError(
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


def _refuse_site(headers: Headers, method: str) -> ProblemError | None:
    """Keep other web sites out of an API without tokens, whose caller may be a browser that they remote-control."""
    if _host(headers.get("host", "")) not in LOCAL_HOSTS:
        return ProblemError(FOREIGN, "Call it localhost, 127.0.0.1 or [::1].")
    own = headers.get("origin") in (None, f"http://{headers['host']}")
    if not own or headers.get("sec-fetch-site", "none") not in OWN_SITES:
        return ProblemError(FOREIGN, "A page of another site may not call it.")
    if method not in SAFE_METHODS and media_type(headers) != "application/json":
        return ProblemError(
            NOT_JSON, "Send the header `Content-Type: application/json`, which no foreign form can."
        )
    return None


def _host(authority: str) -> str:
    name, colon, port = authority.rpartition(":")
    return (name if colon and port.isdigit() else authority).lower()


def media_type(headers: Headers) -> str:
    """Return the content type without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()
