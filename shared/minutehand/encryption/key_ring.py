"""Key ring: the current key, which encrypts and decrypts, and previous keys, which only decrypt.

    MINUTEHAND_ENCRYPTION_KEY            32 bytes as base64 or hex, or the ARN of a KMS key; or _SECRET, a secret
    MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS  previous keys, separated by commas; or _SECRET, a secret

Under a KMS key, each data key encrypts a limited number of messages for a limited time, and is stored encrypted with
them. The AWS Encryption SDK calls this data key caching.
"""

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from threading import Lock
from time import time
from typing import Protocol

from minutehand.errors import ConfigurationError, KeyMissingError
from minutehand.model.encoding import from_base64
from minutehand.settings import secret

KEY = "MINUTEHAND_ENCRYPTION_KEY"
PREVIOUS_KEYS = "MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS"
KEY_BYTES = 32
# The messages and the age of a data key; far below the limit of AES-GCM with random nonces.
MESSAGES = 100_000
AGE = timedelta(minutes=5)
# The number of decrypted data keys in memory.
CACHED = 1000

_KMS = re.compile(r"arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:(key|alias)/.+")


class Kms(Protocol):
    """Creates and decrypts data keys."""

    def make(self, key: str) -> tuple[bytes, bytes]:
        """Return a new data key, in clear text and encrypted."""

    def open(self, key: str, data_key: bytes) -> bytes:
        """Return a data key in clear text."""


@dataclass(frozen=True)
class MessageKey:
    """The key of one message: its name, 32 bytes, and for KMS the encrypted data key."""

    name: str
    key: bytes = field(repr=False)
    data_key: bytes | None = field(default=None, repr=False)


def current() -> MessageKey:
    """Return the key that encrypts; raise ConfigurationError if there is none."""
    text = secret("MINUTEHAND_ENCRYPTION_KEY").strip()
    if not text:
        raise ConfigurationError(f"no key to encrypt with; set {KEY}")
    return data_keys().current(text) if _KMS.fullmatch(text) else _plain_key(text)


def current_name() -> str:
    """Return the name of the key that encrypts."""
    text = secret("MINUTEHAND_ENCRYPTION_KEY").strip()
    return text if _KMS.fullmatch(text) else current().name


def find(name: str, data_key: bytes | None) -> bytes:
    """Return the key of a message by its name; raise KeyMissingError if it is not on the key ring."""
    for text in _texts():
        if _KMS.fullmatch(text):
            if text == name and data_key is not None:
                return data_keys().decrypted(text, data_key)
        elif (plain := _plain_key(text)).name == name:
            return plain.key
    raise KeyMissingError(f"the encryption key {name} is missing; set it in {KEY} or {PREVIOUS_KEYS}")


@cache
def data_keys() -> "DataKeys":
    """Return the data keys of this process."""

    def kms() -> Kms:
        # Imported only when used: boto3 is slow to import.
        from minutehand.aws import KmsKeys

        return KmsKeys()

    return DataKeys(kms)


class DataKeys:
    """A cache of data keys, each of which costs a request to KMS.

    Forked and restored processes may share data keys, but never a nonce.
    """

    def __init__(self, kms: Callable[[], Kms], messages: int = MESSAGES, age: timedelta = AGE) -> None:
        """Create an empty cache; no request is made yet."""
        self._kms = cache(kms)
        self._messages, self._age = messages, age.total_seconds()
        self._writing: dict[str, tuple[MessageKey, int, float]] = {}
        self._reading: OrderedDict[tuple[str, bytes], tuple[bytes, float]] = OrderedDict()
        self._lock = Lock()

    def current(self, name: str) -> MessageKey:
        """Return a data key for one message, that has messages and time left."""
        with self._lock:
            key, left, created = self._writing.get(name, (None, 0, 0.0))
            # The wall clock, since the monotonic one may stop while the process is frozen.
            if key is None or left <= 0 or not 0 <= time() - created < self._age:
                plain, encrypted = self._kms().make(name)
                key, left, created = MessageKey(name, plain, encrypted), self._messages, time()
            self._writing[name] = key, left - 1, created
            return key

    def decrypted(self, name: str, data_key: bytes) -> bytes:
        """Return a data key in clear text, from the cache or from KMS."""
        with self._lock:
            key, decrypted_at = self._reading.get((name, data_key), (b"", 0.0))
            if not 0 <= time() - decrypted_at < self._age:
                try:
                    key, decrypted_at = self._kms().open(name, data_key), time()
                except ConfigurationError as error:
                    raise KeyMissingError(str(error)) from error
            self._reading[name, data_key] = key, decrypted_at
            self._reading.move_to_end((name, data_key))
            if len(self._reading) > CACHED:
                self._reading.popitem(last=False)
            return key


def _texts() -> list[str]:
    previous = secret(PREVIOUS_KEYS).split(",")
    return [text for part in (secret("MINUTEHAND_ENCRYPTION_KEY"), *previous) if (text := part.strip())]


def _plain_key(text: str) -> MessageKey:
    key = _bytes(text)
    # The name identifies a key without revealing it: half of the hash of 32 random bytes.
    return MessageKey(hashlib.sha256(b"minutehand key\0" + key).hexdigest()[:16], key)


def _bytes(text: str) -> bytes:
    try:
        if len(text) == 2 * KEY_BYTES:
            return bytes.fromhex(text)
        key = from_base64(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ConfigurationError(
            f"{KEY} and the previous keys must be 32 bytes as base64 or hex, or the ARN of a KMS key"
        )
    return key
