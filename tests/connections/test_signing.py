"""Signatures match those of botocore."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import boto3
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from minutehand import ConfigurationError
from minutehand.aws import database_token, secret_text
from minutehand.aws.role import endpoint
from minutehand.aws.signing import Credentials as OurCredentials
from minutehand.aws.signing import signed_headers
from tests.connections.manager import CREDENTIALS, REGION

MANY = settings(
    max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
HELD = Credentials(
    CREDENTIALS["AWS_ACCESS_KEY_ID"], CREDENTIALS["AWS_SECRET_ACCESS_KEY"], CREDENTIALS["AWS_SESSION_TOKEN"]
)
HIDDEN = "hunter2"
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40)


class Listening(BaseHTTPRequestHandler):
    """Send the given answers and record the last request."""

    answers: list[tuple[int, bytes]]
    seen: list[AWSRequest]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        url = f"http://{self.headers['host']}{self.path}"
        self.seen.append(AWSRequest("POST", url, dict(self.headers.items()), body))
        status, content = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def role(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Listening]]:
    kind = type("Handler", (Listening,), {"answers": [(200, b'{"SecretString": "kept"}')], "seen": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", f"http://127.0.0.1:{server.server_port}")
        Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield kind
        server.shutdown()


@MANY
@given(name=NAMES)
def test_request_signature_matches_botocore(listening: Any, name: str) -> None:
    assert secret_text(name) == "kept"

    arrived = listening.seen[-1]
    assert json.loads(arrived.data) == {"SecretId": name}
    assert arrived.headers["X-Amz-Security-Token"] == HELD.token
    assert arrived.headers["Authorization"].endswith(f"Signature={signed_by_botocore(arrived)}")


def test_arn_is_requested_in_its_region(listening: Any) -> None:
    secret_text("arn:aws:secretsmanager:ap-south-1:123456789012:secret:url-AbCdEf")

    assert "/ap-south-1/secretsmanager/aws4_request" in listening.seen[-1].headers["Authorization"]


@pytest.mark.parametrize(
    ("status", "content", "sentence"),
    [
        (
            400,
            f'{{"__type": "AccessDeniedException", "Message": "{HIDDEN}"}}'.encode(),
            "role needs secretsmanager:GetSecretValue",
        ),
        (400, b'{"__type": "com.x#ResourceNotFoundException"}', f"it does not exist in {REGION}"),
        (400, b'{"__type": "UnrecognizedClientException"}', "credentials are wrong"),
        (503, HIDDEN.encode(), "status 503"),
    ],
)
def test_error_has_advice_and_does_not_quote_the_response(
    listening: Any, status: int, content: bytes, sentence: str
) -> None:
    listening.answers = [(status, content)]

    with pytest.raises(ConfigurationError, match=sentence) as caught:
        secret_text("url")
    assert HIDDEN not in str(caught.getrepr(chain=True))


def test_transient_failure_is_retried(listening: Any) -> None:
    throttled = b'{"__type": "ThrottlingException"}'
    listening.answers = [(500, b""), (400, throttled), (200, b'{"SecretString": "kept"}')]

    assert secret_text("url") == "kept"
    assert len(listening.seen) == 3


@pytest.mark.parametrize(
    "region",
    ["eu-west-1", "us-gov-west-1", "cn-north-1", "us-iso-east-1", "us-isob-east-1", "eusc-de-east-1"],
)
def test_every_partition_has_its_endpoint(region: str) -> None:
    client = boto3.client("secretsmanager", region_name=region)

    assert endpoint("Secrets Manager", region) == client.meta.endpoint_url


@MANY
@given(
    user=NAMES,
    region=st.sampled_from(["eu-west-1", "us-gov-east-1", "cn-north-1"]),
    port=st.integers(1, 65535),
)
def test_token_matches_boto3(user: str, region: str, port: int) -> None:
    china = f"db.c1.rds.{region}.amazonaws.com.cn"
    host = china if region.startswith("cn-") else f"db.c1.{region}.rds.amazonaws.com"

    while True:
        ours = database_token(host, port, user)
        theirs = CLIENT.generate_db_auth_token(host, port, user, Region=region)
        if moment(ours) == moment(theirs):
            break
    assert ours == theirs


@pytest.mark.parametrize(
    "url",
    [
        "https://Lambda.EU-West-1.amazonaws.com/",
        "https://lambda.eu-west-1.amazonaws.com:443/a%20b/c~d",
        "http://localhost:80/x?b=2&a=1&a-b=0&flag",
        "http://LOCALHOST:4566/2015-03-31/functions/name%3Alive/invocations?Qualifier=live",
        "https://[::1]:8443/x?a=2&a=1",
        "https://user:secret@host.example:443",
    ],
)
def test_host_and_query_are_signed_as_botocore_does(url: str) -> None:
    ours = OurCredentials(HELD.access_key, HELD.secret_key, HELD.token)
    signed = signed_headers("POST", url, {"X-Extra": " a  b "}, b"body", ours, "lambda", REGION)

    again = AWSRequest(
        "POST", url, {name: signed[name] for name in signed if name != "authorization"}, b"body"
    )
    again.context["timestamp"] = signed["x-amz-date"]
    signer = SigV4Auth(HELD, "lambda", REGION)
    signature = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
    assert signed["authorization"].endswith(f"Signature={signature}")


@pytest.mark.parametrize(
    ("host", "port"), [("DB.C1.eu-west-1.RDS.amazonaws.com", 5432), ("db.internal", 443)]
)
def test_token_of_any_host_matches_boto3(host: str, port: int) -> None:
    region = "eu-west-1" if "RDS" in host else REGION
    while True:
        ours = database_token(host, port, "jobs")
        theirs = CLIENT.generate_db_auth_token(host, port, "jobs", Region=region)
        if moment(ours) == moment(theirs):
            break
    assert ours == theirs


def test_token_for_a_custom_name_uses_the_region_of_the_function() -> None:
    assert f"%2F{REGION}%2Frds-db%2F" in database_token("db.internal", 5432, "jobs")


CLIENT = boto3.client(
    "rds",
    region_name=REGION,
    aws_access_key_id=HELD.access_key,
    aws_secret_access_key=HELD.secret_key,
    aws_session_token=HELD.token,
)


def moment(token: str) -> str:
    found = re.search(r"X-Amz-Date=(\w+)", token)
    assert found
    return found[1]


def signed_by_botocore(arrived: AWSRequest) -> str:
    """Sign the received request again, with its own time."""
    names = re.search(r"SignedHeaders=([^,]+)", arrived.headers["Authorization"])
    assert names
    headers = {name: arrived.headers[name] for name in names[1].split(";")}
    again = AWSRequest(arrived.method, arrived.url, headers, arrived.data)
    again.context["timestamp"] = arrived.headers["X-Amz-Date"]
    signer = SigV4Auth(HELD, "secretsmanager", REGION)
    signed_at = datetime.strptime(again.context["timestamp"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - signed_at).total_seconds()) < 300
    return str(signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again))
