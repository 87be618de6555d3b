"""The API is never open: the gateway authorizes requests, or the function requires a token."""

from collections.abc import Mapping
from typing import Any

import pytest

from minutehand.functions.api.auth import authenticate
from minutehand.functions.api.errors import ApiError
from tests.template.cases import CASES, ISSUER
from tests.template.stack import Stack

IAM = {"type": "apiKey", "name": "Authorization", "in": "header", "x-amazon-apigateway-authtype": "awsSigv4"}


def definition(stack: Stack, case: str) -> dict[str, Any]:
    body: dict[str, Any] = stack.deployed(**CASES[case]).of_type("AWS::ApiGatewayV2::Api")["Api"]["Body"]
    return body


def operations(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the methods of every path."""
    return [operation for path in body["paths"].values() for operation in path.values()]


@pytest.mark.planted("              isDefaultRoute: true\n", "")
@pytest.mark.planted("          \\$default:\n", "          /jobs:\n")
@pytest.mark.planted('PayloadFormatVersion: "2.0"', 'PayloadFormatVersion: "1.0"')
def test_api_has_only_the_default_route(stack: Stack) -> None:
    for case in CASES:
        body = definition(stack, case)
        operation = operations(body)[0]

        assert (list(body["paths"]), len(operations(body))) == (["$default"], 1)
        assert operation["isDefaultRoute"] is True
        assert operation["x-amazon-apigateway-integration"]["payloadFormatVersion"] == "2.0"


@pytest.mark.planted(r"security: !If \[ByJwt, \[\{jwt: \[\]\}\]", "security: !If [ByJwt, []")
@pytest.mark.planted(r"\[\{AWS_IAM: \[\]\}\], \[\]\]\]", "[], []]]")
@pytest.mark.planted("security: !If", "x-security: !If")
@pytest.mark.planted("authtype: awsSigv4", "authtype: none")
@pytest.mark.planted(r"issuer: !Ref JwtIssuer", "issuer: !Ref JwtAudience")
@pytest.mark.planted(r'audience: !Split \[",", !Ref JwtAudience\]', "audience: []")
def test_gateway_enforces_the_chosen_authorizer(stack: Stack) -> None:
    jwt, iam = definition(stack, "jwt"), definition(stack, "iam")

    assert [operation["security"] for operation in operations(jwt)] == [[{"jwt": []}]]
    assert [operation["security"] for operation in operations(iam)] == [[{"AWS_IAM": []}]]
    assert iam["components"]["securitySchemes"] == {"AWS_IAM": IAM}
    authorizer = jwt["components"]["securitySchemes"]["jwt"]["x-amazon-apigateway-authorizer"]
    assert authorizer == {
        "type": "jwt",
        "identitySource": "$request.header.Authorization",
        "jwtConfiguration": {"issuer": ISSUER, "audience": ["jobs", "ops"]},
    }


@pytest.mark.planted("API_TOKENS_SECRET: !If \\[ByToken", "API_TOKENS_SECRET: !If [ByJwt")
@pytest.mark.planted("API_TOKENS_SECRET: !If .*?\\]", 'API_TOKENS_SECRET: ""')
def test_function_has_tokens_if_the_gateway_has_no_authorizer(stack: Stack) -> None:
    for case, parameters in CASES.items():
        secret = stack.deployed(**parameters).variables("ApiFunction")["MINUTEHAND_API_TOKENS_SECRET"]
        guarded = all(operation["security"] for operation in operations(definition(stack, case)))

        assert bool(secret) != guarded


@pytest.mark.planted("AllowedValues: \\[token, jwt, iam\\]", "AllowedValues: [token, jwt, iam, none]")
@pytest.mark.planted("Default: token", "Default: iam")
def test_api_cannot_be_deployed_unauthenticated(stack: Stack) -> None:
    facts = stack.template["Parameters"]["ApiAuth"]

    assert (facts["Default"], facts["AllowedValues"]) == ("token", ["token", "jwt", "iam"])
    assert "MINUTEHAND_LOCAL" not in stack.variables("ApiFunction")


@pytest.mark.planted("      DefaultRouteSettings: [^\n]*\n", "")
@pytest.mark.planted("ThrottlingRateLimit: !Ref ApiRateLimit", "ThrottlingRateLimit: !Ref ApiBurstLimit")
def test_gateway_limits_requests(stack: Stack) -> None:
    for parameters in CASES.values():
        (stage,) = stack.deployed(**parameters, ApiRateLimit=7).of_type("AWS::ApiGatewayV2::Stage").values()

        assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 7, "ThrottlingBurstLimit": 50}


def scope(authorizer: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a request as the gateway sends it, with the identity from its authorizer."""
    return {
        "type": "http",
        "path": "/jobs",
        "method": "GET",
        "headers": [],
        "client": ("127.0.0.1", 1),
        "aws.event": {"requestContext": {"authorizer": authorizer} if authorizer else {}},
    }


def test_function_without_tokens_or_authorizer_is_closed() -> None:
    with pytest.raises(ApiError) as refusal:
        authenticate(scope(None))

    assert refusal.value.type.status == 503
    assert authenticate(scope({"jwt": {"claims": {"sub": "ada"}}})).actor == "ada"
    user = "arn:aws:iam::123456789012:user/ada"
    assert authenticate(scope({"iam": {"userArn": user}})).actor == user


@pytest.mark.planted("functions/\\${ApiLive}/", "functions/${ApiFunction.Arn}:live/")
@pytest.mark.planted("FunctionName: !Ref ApiLive", "FunctionName: !Ref ApiFunction")
@pytest.mark.planted("Principal: apigateway.amazonaws.com", 'Principal: "*"')
@pytest.mark.planted("      SourceArn: !Sub [^\n]*\n", "")
def test_live_function_is_invoked_only_by_the_gateway(stack: Stack) -> None:
    for case in ("existing", "snapshots"):
        (operation,) = operations(definition(stack, case))
        called = operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
        permissions = stack.deployed(**CASES[case]).of_type("AWS::Lambda::Permission").values()
        live = case == "snapshots"

        assert called.endswith(
            "functions/${ApiLive}/invocations" if live else "functions/${ApiFunction.Arn}/invocations"
        )
        assert {"Ref": "ApiLive" if live else "ApiFunction"} in [p["FunctionName"] for p in permissions]
        for permission in permissions:
            assert permission["Principal"] == "apigateway.amazonaws.com"
            assert "SourceArn" in permission
