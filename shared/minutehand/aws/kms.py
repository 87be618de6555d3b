"""KMS: generate and decrypt data keys."""

from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from minutehand.errors import ConfigurationError

# KMS logs the context, and decrypts a data key only with the context that it was generated with.
CONTEXT = {"purpose": "minutehand"}
CONFIG = Config(connect_timeout=3, read_timeout=5, retries={"mode": "standard", "max_attempts": 3})

ADVICE = {
    "AccessDeniedException": "; the role needs kms:GenerateDataKey and kms:Decrypt on it",
    "DisabledException": "; the key is disabled",
    "KMSInvalidStateException": "; the key is disabled or about to be deleted",
    "NotFoundException": "; the key does not exist",
}


class KmsKeys:
    """Generate and decrypt data keys under a KMS key, given by its ARN, in the region of that key."""

    def make(self, key: str) -> tuple[bytes, bytes]:
        """Return a new data key, as plain text and encrypted."""
        response = self._request(key, "generate_data_key", KeySpec="AES_256")
        return bytes(response["Plaintext"]), bytes(response["CiphertextBlob"])

    def open(self, key: str, data_key: bytes) -> bytes:
        """Return the plain text of a data key; `key` must be the key that encrypted it."""
        return bytes(self._request(key, "decrypt", CiphertextBlob=data_key)["Plaintext"])

    def _request(self, key: str, action: str, **parameters: Any) -> Any:
        # Requests are rare enough that the client is not cached.
        client: Any = boto3.client("kms", region_name=key.split(":")[3], config=CONFIG)
        try:
            return getattr(client, action)(KeyId=key, EncryptionContext=CONTEXT, **parameters)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "an error")
            raise ConfigurationError(
                f"the key {key} cannot be used: KMS answered {code}{ADVICE.get(code, '')}"
            ) from None
        except BotoCoreError as error:
            raise ConfigurationError(f"the key {key} cannot be used: {type(error).__name__}") from None
