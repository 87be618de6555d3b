"""Callers: the actor and the tenant of a token, and of an identity that API Gateway authorized."""

from typing import Any

import pytest

from minutehand.functions.api.auth import authenticate
from minutehand.functions.api.errors import ApiError


def authenticated(authorizer: Any = None, token: str = "") -> Any:
    """Return the caller of a request, or raise the error that rejects it."""
    headers = [(b"authorization", f"Bearer {token}".encode())] if token else []
    scope: dict[str, Any] = {"type": "http", "path": "/jobs", "method": "GET", "headers": headers}
    if authorizer is not None:
        scope["aws.event"] = {"requestContext": {"authorizer": authorizer}}
    return authenticate(scope)


@pytest.mark.parametrize(
    ("entry", "who", "tenant"),
    [
        ("a-token-for-the-examples", None, ""),
        ("ada:a-token-for-the-examples", "ada", ""),
        ("ada@acme:a-token-for-the-examples", "ada", "acme"),
        ("ci.bot_2@eu:acme@7:a-token-for-the-examples", "ci.bot_2", "eu:acme@7"),
    ],
)
def test_token_names_its_actor_and_tenant(monkeypatch, entry, who, tenant) -> None:
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", f"other@b:another-token-for-us,{entry}")
    caller = authenticated(token="a-token-for-the-examples")

    assert (caller.actor, caller.tenant) == (who, tenant)


@pytest.mark.parametrize(
    "entries",
    [
        "ada@:{}",
        "@acme:{}",
        ":{}",
        "ada@a b:{}",
        "a da:{}",
        "ada@-a:{}",
        "ada@acme:short",
        "ada@acme:{0},bob@b:{0}",
        "{0},bob@b:{0}",
    ],
)
def test_ambiguous_token_is_rejected(monkeypatch, log, entries) -> None:
    entries = entries.format("a-token-for-the-examples")
    monkeypatch.setenv("MINUTEHAND_API_TOKENS", entries)
    for token in ("a-token-for-the-examples", "short", entries):
        with pytest.raises(ApiError) as refused:
            authenticated(token=token)
        assert refused.value.status_code == 401

    assert "MINUTEHAND_API_TOKENS" in log.getvalue()
    assert "for-the-examples" not in log.getvalue()


@pytest.mark.parametrize(
    ("authorizer", "who"),
    [
        ({"jwt": {"claims": {"sub": "ada", "org": "acme"}}}, "ada"),
        ({"jwt": {"claims": {"client_id": "ci", "org": "acme"}}}, "ci"),
        ({"lambda": {"principalId": "ada", "org": "acme"}}, "ada"),
        ({"lambda": {"org": "acme"}}, None),
        ({"iam": {"userArn": "arn:aws:iam::1:user/ada"}}, "arn:aws:iam::1:user/ada"),
    ],
)
def test_authorizer_names_the_actor_and_the_tenant(monkeypatch, authorizer, who) -> None:
    assert (authenticated(authorizer).actor, authenticated(authorizer).tenant) == (who, "")
    monkeypatch.setenv("MINUTEHAND_TENANT_CLAIM", "org")
    if "iam" in authorizer:
        with pytest.raises(ApiError, match="'org' must be a valid tenant name"):
            authenticated(authorizer)
    else:
        assert (authenticated(authorizer).actor, authenticated(authorizer).tenant) == (who, "acme")


@pytest.mark.parametrize(
    "claims", [{"sub": "ada"}, {"org": ""}, {"org": "a b"}, {"org": ["acme"]}, {"org": None}, {}]
)
@pytest.mark.parametrize("kind", ["jwt", "lambda"])
def test_caller_without_the_tenant_claim_is_rejected(monkeypatch, kind, claims) -> None:
    monkeypatch.setenv("MINUTEHAND_TENANT_CLAIM", "org")
    facts = {"claims": claims, "scopes": None} if kind == "jwt" else claims | {"x": "y"}
    with pytest.raises(ApiError) as refused:
        authenticated({kind: facts})

    assert refused.value.status_code == 403


@pytest.mark.parametrize(
    ("role", "reader"),
    [
        ("operator", False),
        ("reader", True),
        ("[staff reader]", True),
        ("[reader,staff]", True),
        ("[reader operator]", False),
        (["reader"], True),
    ],
)
def test_role_claim_decides_whether_a_caller_only_reads(monkeypatch, role, reader) -> None:
    claims = {"sub": "ada", "role": role}
    assert not authenticated({"jwt": {"claims": claims}}).reader

    monkeypatch.setenv("MINUTEHAND_ROLE_CLAIM", "role")
    assert authenticated({"jwt": {"claims": claims}}).reader == reader
    assert authenticated({"lambda": claims}).reader == reader


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"role": ""},
        {"role": "no operator"},
        {"role": "[staff]"},
        {"role": []},
        {"role": True},
        {"role": "Operator"},
    ],
)
def test_caller_without_the_role_claim_is_rejected(monkeypatch, claims) -> None:
    monkeypatch.setenv("MINUTEHAND_ROLE_CLAIM", "role")
    for authorizer in (
        {"jwt": {"claims": claims}},
        {"lambda": claims | {"x": "y"}},
        {"iam": {"userArn": "ada"}},
    ):
        with pytest.raises(ApiError) as refused:
            authenticated(authorizer)
        assert (refused.value.status_code, refused.value.type.name) == (403, "no-role")
