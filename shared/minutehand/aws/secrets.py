"""Secrets: read one with a signed request, without boto3, which would make a cold start four times as slow."""

import json
import os
from contextlib import suppress
from time import sleep
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.exceptions import ConnectionError as NoConnection
from botocore.exceptions import HTTPClientError
from botocore.httpsession import URLLib3Session
from botocore.utils import get_environ_proxies

from minutehand.aws.role import credentials, endpoint, region
from minutehand.errors import ConfigurationError

# Time limits to connect and to answer.
SECONDS = (3, 5)
# Seconds before the second and third attempt.
PAUSES = (0.1, 0.4)
NO_RESPONSE = (NoConnection, HTTPClientError)
HEADERS = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "secretsmanager.GetSecretValue"}
TEMPORARY = {"ThrottlingException", "TooManyRequestsException", "InternalServiceError"}

ADVICE = {
    "AccessDeniedException": "; the role needs secretsmanager:GetSecretValue on it, and kms:Decrypt on its key",
    "DecryptionFailure": "; the role needs kms:Decrypt on its key",
    "ExpiredTokenException": "; the credentials have expired",
    "InvalidRequestException": "; it is marked for deletion",
    "InvalidSignatureException": "; the credentials or the clock are wrong",
    "ResourceNotFoundException": "; it does not exist in {region}",
    "UnrecognizedClientException": "; the credentials are wrong",
}


def secret_text(name: str) -> str:
    """Return the current text of a secret in Secrets Manager, given by its ARN or name.

    An ARN is read in its own region. Errors contain nothing of the secret.
    """
    where = name.split(":")[3] if name.startswith("arn:") and name.count(":") > 5 else region()
    response = _request(name, where)
    if response.status_code != 200:
        code = _code(response)
        advice = ADVICE.get(code, "").format(region=where)
        raise ConfigurationError(f"the secret {name} cannot be read: Secrets Manager answered {code}{advice}")
    secret: dict[str, Any] = json.loads(response.content)
    if "SecretString" not in secret:
        raise ConfigurationError(f"the secret {name} is binary; store it as text")
    return str(secret["SecretString"])


def _request(name: str, where: str) -> AWSResponse:
    """Request the secret; retry temporary errors twice."""
    address = endpoint("Secrets Manager", where)
    for pause in PAUSES:
        with suppress(*NO_RESPONSE):
            response = _send(name, where, address)
            if not _is_temporary(response):
                return response
        sleep(pause)
    try:
        return _send(name, where, address)
    except NO_RESPONSE as error:
        raise ConfigurationError(
            f"the secret {name} cannot be read: Secrets Manager at {address} does not answer "
            f"({type(error).__name__}); a VPC needs a NAT gateway or an endpoint for secretsmanager"
        ) from error


def _send(name: str, where: str, address: str) -> AWSResponse:
    request = AWSRequest("POST", address, HEADERS, json.dumps({"SecretId": name}).encode())
    SigV4Auth(credentials(), "secretsmanager", where).add_auth(request)
    http = URLLib3Session(
        os.environ.get("AWS_CA_BUNDLE") or True,  # type: ignore[arg-type] # a path is fine
        get_environ_proxies(address),
        SECONDS,  # type: ignore[arg-type] # so are two
    )
    try:
        return http.send(request.prepare())
    finally:
        http.close()


def _is_temporary(response: AWSResponse) -> bool:
    return response.status_code >= 500 or response.status_code == 429 or _code(response) in TEMPORARY


def _code(response: AWSResponse) -> str:
    """Return the name of an error; `com.amazonaws.x#AccessDeniedException` has a prefix that is removed."""
    try:
        return str(json.loads(response.content)["__type"]).rpartition("#")[2]
    except (ValueError, TypeError, KeyError):
        return f"status {response.status_code}"
