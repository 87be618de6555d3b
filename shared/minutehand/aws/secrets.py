"""Secrets: read one with a signed request, without boto3, which would make a cold start four times as slow."""

import json
from typing import Any

from minutehand.aws.role import region
from minutehand.aws.service import Answer, NoAnswerError, Service
from minutehand.errors import ConfigurationError

# Time limits to connect and to answer.
SECONDS = (3.0, 5.0)
# The most seconds before the second and third attempt.
PAUSES = (0.2, 0.8)
HEADERS = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "secretsmanager.GetSecretValue"}

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
    answer = _request(name, where)
    if answer.status != 200:
        advice = ADVICE.get(answer.code, "").format(region=where)
        raise ConfigurationError(
            f"the secret {name} cannot be read: Secrets Manager answered {answer.code}{advice}"
        )
    secret: dict[str, Any] = json.loads(answer.content)
    if "SecretString" not in secret:
        raise ConfigurationError(f"the secret {name} is binary; store it as text")
    return str(secret["SecretString"])


def _request(name: str, where: str) -> Answer:
    manager = Service("Secrets Manager", "secretsmanager", where, seconds=SECONDS, pauses=PAUSES)
    try:
        return manager.send("POST", "/", json.dumps({"SecretId": name}).encode(), HEADERS)
    except NoAnswerError as error:
        raise ConfigurationError(
            f"the secret {name} cannot be read: Secrets Manager at {manager.url} did not respond "
            f"({error}); a VPC needs a NAT gateway or an endpoint for secretsmanager"
        ) from error
    finally:
        manager.close()
