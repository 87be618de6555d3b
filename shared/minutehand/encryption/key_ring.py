"""Key ring: the keys that payloads are encrypted with, the current one that writes and those that only read.

    MINUTEHAND_ENCRYPTION_KEY            32 bytes as base64 or hex, or the ARN of a KMS key; _SECRET names a secret
    MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS  keys of the same kinds, separated by commas, that only read; _SECRET likewise

Under a KMS key each data key encrypts a number of messages for a while, and goes encrypted beside them: what the AWS
Encryption SDK calls data key caching, with bounds on messages and age.
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
KEY_BYTES = 32
MESSAGES = 100_000  # that a data key encrypts; far below what AES-GCM with nonces of chance allows
AGE = timedelta(minutes=5)
OPENED = 1000  # data keys that are kept to read with

_KMS = re.compile(r"arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:(key|alias)/.+")


class Kms(Protocol):
    """What makes data keys and opens them."""

    def make(self, key: str) -> tuple[bytes, bytes]:
        """Return a new data key, in clear and encrypted."""

    def open(self, key: str, data_key: bytes) -> bytes:
        """Return a data key in clear."""


@dataclass(frozen=True)
class MessageKey:
    """What one message is encrypted with: the name of its key, 32 bytes, and for KMS the data key, encrypted."""

    name: str
    key: bytes = field(repr=False)
    data_key: bytes | None = field(default=None, repr=False)


def current() -> MessageKey:
    """Return the key to write with; raise ConfigurationError if there is none."""
    text = secret("MINUTEHAND_ENCRYPTION_KEY").strip()
    if not text:
        raise ConfigurationError(f"there is no key to encrypt with: set {KEY}")
    return data_keys().current(text) if _KMS.fullmatch(text) else _own(text)


def current_name() -> str:
    """Return the name of the key to write with."""
    text = secret("MINUTEHAND_ENCRYPTION_KEY").strip()
    return text if _KMS.fullmatch(text) else current().name


def find(name: str, data_key: bytes | None) -> bytes:
    """Return the key of a message by its name; raise KeyMissingError if it is not on the ring."""
    for text in _texts():
        if _KMS.fullmatch(text):
            if text == name and data_key is not None:
                return data_keys().opened(text, data_key)
        elif (own := _own(text)).name == name:
            return own.key
    which = name if _KMS.fullmatch(name) else f"the key {name}"
    raise KeyMissingError(f"it is encrypted under {which}, which this process does not have: see {KEY}")


@cache
def data_keys() -> "DataKeys":
    """Return the data keys of this process."""

    def kms() -> Kms:
        from minutehand.aws import (
            KmsKeys,
        )  # imported here, so that who has a key of their own does not pay for it

        return KmsKeys()

    return DataKeys(kms)


class DataKeys:
    """Data keys that cost a request to KMS each, kept within bounds; a fork or a thaw may share them, a nonce never."""

    def __init__(self, kms: Callable[[], Kms], messages: int = MESSAGES, age: timedelta = AGE) -> None:
        """Ask nothing yet."""
        self._kms = cache(kms)
        self._messages, self._age = messages, age.total_seconds()
        self._writing: dict[str, tuple[MessageKey, int, float]] = {}
        self._reading: OrderedDict[tuple[str, bytes], tuple[bytes, float]] = OrderedDict()
        self._lock = Lock()

    def current(self, name: str) -> MessageKey:
        """Return a data key that has messages and time left, for one more message."""
        with self._lock:
            key, left, made = self._writing.get(name, (None, 0, 0.0))
            # The wall clock, since the other one may stand still while an environment is frozen.
            if key is None or left <= 0 or not 0 <= time() - made < self._age:
                plain, encrypted = self._kms().make(name)
                key, left, made = MessageKey(name, plain, encrypted), self._messages, time()
            self._writing[name] = key, left - 1, made
            return key

    def opened(self, name: str, data_key: bytes) -> bytes:
        """Return a data key in clear, as it was opened last or by KMS."""
        with self._lock:
            key, opened = self._reading.get((name, data_key), (b"", 0.0))
            if not 0 <= time() - opened < self._age:
                try:
                    key, opened = self._kms().open(name, data_key), time()
                except ConfigurationError as error:
                    raise KeyMissingError(str(error)) from error
            self._reading[name, data_key] = key, opened
            self._reading.move_to_end((name, data_key))
            if len(self._reading) > OPENED:
                self._reading.popitem(last=False)
            return key


def _texts() -> list[str]:
    previous = secret("MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS").split(",")
    return [text for part in (secret("MINUTEHAND_ENCRYPTION_KEY"), *previous) if (text := part.strip())]


def _own(text: str) -> MessageKey:
    key = _bytes(text)
    # The name tells keys apart and nothing of them: half of a hash of 32 bytes of chance.
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
            f"a key in {KEY} or among the previous ones is not 32 bytes as base64 or hex, nor the ARN of a KMS key"
        )
    return key
