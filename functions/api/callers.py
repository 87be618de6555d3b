"""Callers: whom a token or API Gateway's authoriser names, and the tenant whose jobs are all that they see.

MINUTEHAND_API_TOKENS     [name[@tenant]:]token, comma-separated: a name is written into the audit trail, and a
                          token with a tenant sees and changes that tenant's jobs only; one without sees all
MINUTEHAND_TENANT_CLAIM   the claim of a JWT, or the key of a Lambda authoriser's context, that names the tenant;
                          where it is set, who has none does not come in
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.types import Scope

from minutehand.database.tenants import is_tenant
from problems import Kind, ProblemError
from watch import logger

TOKEN_CHARACTERS = 16
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
SUBJECTS = {
    "jwt": ("sub", "client_id"),
    "iam": ("userArn", "userId"),
    "lambda": ("principalId", "sub"),
}
SUBJECT_CHARACTERS = 200

NO_TENANT = Kind(403, "no-tenant", "The caller has no tenant")


@dataclass(frozen=True)
class Caller:
    """Who asks, as far as it is known, and the tenant that they are confined to; '' is confined to none."""

    who: str | None = None
    tenant: str = ""


@dataclass(frozen=True)
class Token:
    """A bearer token, and whose it is."""

    secret: bytes
    caller: Caller


def read_tokens(entries: list[str]) -> Iterator[Token]:
    """Yield the tokens that may be used; the log counts the others, and quotes none of them."""
    for entry in entries:
        named, colon, token = entry.rpartition(":")
        name, at, tenant = named.partition("@")
        if (colon and not NAME.fullmatch(name)) or (at and not is_tenant(tenant)):
            logger.error(
                "MINUTEHAND_API_TOKENS has an entry that is not [name[@tenant]:]token; it is ignored"
            )
        elif len(token) < TOKEN_CHARACTERS:
            logger.error(
                f"MINUTEHAND_API_TOKENS has a token of less than {TOKEN_CHARACTERS} characters; it is ignored"
            )
        else:
            yield Token(token.encode(), Caller(name or None, tenant))


def vouched_for(scope: Scope) -> Caller | None:
    """Return whom API Gateway's own authoriser let pass, or None; raise for one who lacks the tenant's claim.

    Only Lambda can put an event into the scope, and only API Gateway an authoriser into that.
    """
    context = scope.get("aws.event", {}).get("requestContext") or {}
    authorizer = context.get("authorizer") or {}
    for kind, names in SUBJECTS.items():
        if facts := authorizer.get(kind):
            claims = facts.get("claims") or {} if kind == "jwt" else facts
            return Caller(_subject(claims, names), _tenant(claims))
    return None


def _subject(claims: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    said = [str(claims[name])[:SUBJECT_CHARACTERS] for name in names if claims.get(name)]
    return said[0] if said else None


def _tenant(claims: Mapping[str, Any]) -> str:
    if not (claim := os.environ.get("MINUTEHAND_TENANT_CLAIM")):
        return ""
    tenant = claims.get(claim)
    if not isinstance(tenant, str) or not is_tenant(tenant):
        raise ProblemError(NO_TENANT, f"The authoriser passes no tenant's name in {claim!r}.")
    return tenant
