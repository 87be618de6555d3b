"""Callers: the name and the tenant of a token, or of the identity that API Gateway's authorizer accepted.

MINUTEHAND_API_TOKENS     [name[@tenant][+read]:]token, comma-separated. The audit trail records the name. A token with
                          a tenant can access the jobs of that tenant only, one without a tenant all jobs. A token with
                          +read can change nothing
MINUTEHAND_TENANT_CLAIM   the claim of a JWT, or the key of a Lambda authorizer's context, that names the tenant.
                          If it is set, callers without the claim are rejected
MINUTEHAND_ROLE_CLAIM     the claim or key that names the role: `operator`, or `reader`, who can change nothing. It may
                          be a list of groups with one of the two. If it is set, callers without the claim are rejected
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.types import Scope

from minutehand.database.tenants import is_tenant
from minutehand.functions.api.errors import ApiError, ProblemType
from minutehand.functions.api.request_log import logger
from minutehand.settings.table import ROLE_CLAIM, TENANT_CLAIM

TOKEN_CHARACTERS = 16
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
SUBJECTS = {
    "jwt": ("sub", "client_id"),
    "iam": ("userArn", "userId"),
    "lambda": ("principalId", "sub"),
}
SUBJECT_CHARACTERS = 200

OPERATOR, READER = "operator", "reader"
# API Gateway passes a list on as "[one two]".
LIST = re.compile(r"\[([^\[\]]*)\]")

NO_ROLE = ProblemType(403, "no-role", "The caller has no role")
NO_TENANT = ProblemType(403, "no-tenant", "The caller has no tenant")


@dataclass(frozen=True)
class Caller:
    """The caller's name, if it is known, and the tenant that the caller is confined to; '' means all tenants.

    A `reader` may change nothing.
    """

    actor: str | None = None
    tenant: str = ""
    reader: bool = False


@dataclass(frozen=True)
class Token:
    """A bearer token and its caller."""

    secret: bytes
    caller: Caller


def read_tokens(entries: list[str]) -> Iterator[Token]:
    """Yield the valid tokens; log an error for each invalid one, without quoting it."""
    for entry in entries:
        named, colon, token = entry.rpartition(":")
        owner, plus, role = named.partition("+")
        name, at, tenant = owner.partition("@")
        invalid_name = colon and not NAME.fullmatch(name)
        if invalid_name or (at and not is_tenant(tenant)) or (plus and role != "read"):
            logger.error(
                "an entry in MINUTEHAND_API_TOKENS must be [name[@tenant][+read]:]token; it is ignored"
            )
        elif len(token) < TOKEN_CHARACTERS:
            logger.error(
                f"a token in MINUTEHAND_API_TOKENS has less than {TOKEN_CHARACTERS} characters; it is ignored"
            )
        else:
            yield Token(token.encode(), Caller(name or None, tenant, reader=bool(plus)))


def authorized_caller(scope: Scope) -> Caller | None:
    """Return the caller that API Gateway's authorizer accepted, or None; raise ApiError without a required claim.

    Only Lambda can put an event into the scope, and only API Gateway an authorizer into the event.
    """
    context = scope.get("aws.event", {}).get("requestContext") or {}
    authorizer = context.get("authorizer") or {}
    for kind, names in SUBJECTS.items():
        if facts := authorizer.get(kind):
            claims = facts.get("claims") or {} if kind == "jwt" else facts
            return Caller(_subject(claims, names), _tenant(claims), reader=_is_reader(claims))
    return None


def _subject(claims: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    subjects = [str(claims[name])[:SUBJECT_CHARACTERS] for name in names if claims.get(name)]
    return subjects[0] if subjects else None


def _tenant(claims: Mapping[str, Any]) -> str:
    if not (claim := TENANT_CLAIM.read()):
        return ""
    tenant = claims.get(claim)
    if not isinstance(tenant, str) or not is_tenant(tenant):
        raise ApiError(NO_TENANT, f"The claim {claim!r} must be a valid tenant name.")
    return tenant


def _is_reader(claims: Mapping[str, Any]) -> bool:
    """Return whether a caller may only read; one with both roles is an operator."""
    if not (claim := ROLE_CLAIM.read()):
        return False
    roles = _words(claims.get(claim))
    if not roles & {OPERATOR, READER}:
        raise ApiError(NO_ROLE, f"The claim {claim!r} must be {OPERATOR} or {READER}.")
    return OPERATOR not in roles


def _words(value: object) -> set[str]:
    """Return the values of a claim: a text, a list, or a list as API Gateway writes it."""
    if isinstance(value, list):
        return {str(each) for each in value}
    if not isinstance(value, str):
        return set()
    found = LIST.fullmatch(value)
    return set(re.split(r"[ ,]+", found[1])) if found else {value}
