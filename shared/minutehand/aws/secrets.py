"""Reading a secret: one signed request, without boto3, which would cost a cold start four times as much."""

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

SECONDS = (3, 5)  # to connect, to answer
PAUSES = (0.1, 0.4)  # before the second and third time
NO_ANSWER = (NoConnection, HTTPClientError)
HEADERS = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "secretsmanager.GetSecretValue"}
AGAIN = {"ThrottlingException", "TooManyRequestsException", "InternalServiceError"}

ADVICE = {
    "AccessDeniedException": "; the role needs secretsmanager:GetSecretValue on it, and kms:Decrypt on its key",
    "DecryptionFailure": "; the role needs kms:Decrypt on its key",
    "ExpiredTokenException": "; the credentials have run out",
    "InvalidRequestException": "; it is marked for deletion",
    "InvalidSignatureException": "; the credentials are wrong, or the clock is",
    "ResourceNotFoundException": "; there is none of this name in {where}",
    "UnrecognizedClientException": "; the credentials are wrong",
}


def secret_text(name: str) -> str:
    """Return the text of a secret in Secrets Manager, by its ARN or name, as it is at this moment.

    An ARN is asked for in its own region. No error holds anything of the secret.
    """
    where = name.split(":")[3] if name.startswith("arn:") and name.count(":") > 5 else region()
    answer = _ask(name, where)
    if answer.status_code != 200:
        code = _code(answer)
        advice = ADVICE.get(code, "").format(where=where)
        raise ConfigurationError(f"the secret {name} cannot be read: Secrets Manager says {code}{advice}")
    said: dict[str, Any] = json.loads(answer.content)
    if "SecretString" not in said:
        raise ConfigurationError(f"the secret {name} is binary: store it as text")
    return str(said["SecretString"])


def _ask(name: str, where: str) -> AWSResponse:
    """Ask again, twice, where that may help; what is said then is the answer."""
    address = endpoint("Secrets Manager", where)
    for pause in PAUSES:
        with suppress(*NO_ANSWER):
            answer = _once(name, where, address)
            if not _passing(answer):
                return answer
        sleep(pause)
    try:
        return _once(name, where, address)
    except NO_ANSWER as error:
        raise ConfigurationError(
            f"the secret {name} cannot be read: there is no way to Secrets Manager at {address} "
            f"({type(error).__name__}): from a VPC it takes a NAT gateway, or an endpoint for secretsmanager"
        ) from error


def _once(name: str, where: str, address: str) -> AWSResponse:
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


def _passing(answer: AWSResponse) -> bool:
    return answer.status_code >= 500 or answer.status_code == 429 or _code(answer) in AGAIN


def _code(answer: AWSResponse) -> str:
    """Return the name of an error, such as `com.amazonaws.x#AccessDeniedException` without what is before it."""
    try:
        return str(json.loads(answer.content)["__type"]).rpartition("#")[2]
    except (ValueError, TypeError, KeyError):
        return f"status {answer.status_code}"
