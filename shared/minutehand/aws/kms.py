"""Data keys of KMS: made, and opened again, which wants boto3."""

from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from minutehand.errors import ConfigurationError

CONTEXT = {"purpose": "minutehand"}  # KMS logs it, and opens nothing that was not made with it
CONFIG = Config(connect_timeout=3, read_timeout=5, retries={"mode": "standard", "max_attempts": 3})

ADVICE = {
    "AccessDeniedException": "; the role needs kms:GenerateDataKey and kms:Decrypt on it",
    "DisabledException": "; the key is disabled",
    "KMSInvalidStateException": "; the key is disabled or about to be deleted",
    "NotFoundException": "; there is no such key",
}


class KmsKeys:
    """Makes and opens data keys, by the ARN of the key that encrypts them, in that key's own region."""

    def make(self, key: str) -> tuple[bytes, bytes]:
        """Return a new data key, in clear and encrypted."""
        answer = self._ask(key, "generate_data_key", KeySpec="AES_256")
        return bytes(answer["Plaintext"]), bytes(answer["CiphertextBlob"])

    def open(self, key: str, data_key: bytes) -> bytes:
        """Return a data key in clear; only this key opens it, though KMS would find out which one does."""
        return bytes(self._ask(key, "decrypt", CiphertextBlob=data_key)["Plaintext"])

    def _ask(self, key: str, action: str, **asked: Any) -> Any:
        # A request for every data key is rare enough to need no client that is kept.
        client: Any = boto3.client("kms", region_name=key.split(":")[3], config=CONFIG)
        try:
            return getattr(client, action)(KeyId=key, EncryptionContext=CONTEXT, **asked)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "nothing")
            raise ConfigurationError(
                f"the key {key} cannot be used: KMS says {code}{ADVICE.get(code, '')}"
            ) from None
        except BotoCoreError as error:
            raise ConfigurationError(f"the key {key} cannot be used: {type(error).__name__}") from None
