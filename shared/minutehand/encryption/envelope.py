"""Envelope: payloads are encrypted before they are stored, and decrypted where their handler runs.

AES-256-GCM of `cryptography`, with a random nonce for each message. The row stores this instead of the payload:

    {"minutehand": {"v": 1, "alg": "A256GCM", "key": ..., "bound": ["id", "kind"], "iv": ..., "text": ...}}

`bound` names the columns whose values are the additional data: in a row with other values the payload does not decrypt.
These are the kind, and either the id or the key. The key is used where the id is not known in advance: a job with a key
may replace another, and a recurring job has many ids. With the key, queue and tenant are bound too if they are given.
"""

import json
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, Protocol
from uuid import UUID

from minutehand.encryption import key_ring
from minutehand.errors import ConfigurationError, DecryptionError, InvalidJobError, KeyMissingError
from minutehand.model.encoding import from_base64, to_base64
from minutehand.model.payload import decode, is_encrypted
from minutehand.model.rules import sentence
from minutehand.model.uuid7 import uuid7
from minutehand.settings.table import ENCRYPTION_REQUIRED

ALGORITHM = "A256GCM"
NONCE_BYTES = 12
logger = logging.getLogger(__name__)

COLUMNS = ("id", "key", "kind", "queue", "schedule", "tenant")
Purpose = Literal["payload", "result"]


class Named(Protocol):
    """A job's id and kind, as of a claimed job or one delivered over HTTP."""

    @property
    def id(self) -> UUID:
        """The job's id."""

    @property
    def kind(self) -> str:
        """The job's kind."""


class Claimed(Protocol):
    """A job with its stored payload."""

    payload: Any


@dataclass(frozen=True)
class Subject:
    """The columns that an encrypted value is bound to; empty ones are not bound."""

    kind: str
    id: str = ""
    key: str = ""
    queue: str = ""
    tenant: str = ""
    schedule: str = ""

    @classmethod
    def of(cls, row: Any) -> "Subject":
        """Read a claimed job or a record."""
        values = {
            name: row.get(name) if isinstance(row, dict) else getattr(row, name, None) for name in COLUMNS
        }
        return cls(**{name: str(value or "") for name, value in values.items()})

    def bound(self) -> tuple[str, ...]:
        """Return the columns that have a value."""
        return tuple(name for name in COLUMNS if getattr(self, name))


def encrypt_parameters(
    parameters: dict[str, Any], clock: Callable[[], datetime], tenant: str = ""
) -> dict[str, Any]:
    """Return the parameters of a new job with an encrypted payload. A job without a key gets its id here.

    A payload that the enqueuer has encrypted is left unchanged.
    """
    refuse_clear_on_dead(parameters["on_dead"])
    if is_encrypted(decode(parameters["payload"])):
        return parameters
    named = parameters["key"] is not None or parameters["every"] is not None
    job_id = None if named else uuid7(clock())
    scope = {"queue": parameters["queue"] or "", "tenant": parameters["tenant"] or tenant} if named else {}
    subject = Subject(parameters["kind"] or "", id=str(job_id or ""), key=parameters["key"] or "", **scope)
    return parameters | {"payload": encrypt(parameters["payload"], subject), "id": job_id}


def refuse_clear_on_dead(text: str | None) -> None:
    """Refuse a job of `on_dead` with a payload, which would be stored in clear text."""
    job = None if text is None else decode(text)
    while isinstance(job, dict):
        if job.get("payload") is not None:
            raise InvalidJobError("on_dead_is_clear", sentence("on_dead_is_clear"))
        job = job.get("on_dead")


def encrypt_for_row(row: dict[str, Any], text: str) -> str:
    """Return a payload encrypted for an existing job; for a recurring job, for all its occurrences."""
    unbound = {"id": ""} if row["every"] else {"key": "", "queue": "", "tenant": "", "schedule": ""}
    return encrypt(text, replace(Subject.of(row), **unbound))


def encrypt(text: str, subject: Subject, purpose: Purpose = "payload") -> str:
    """Return JSON text encrypted with the current key, as the JSON text of an envelope."""
    cipher_class = _cipher()
    key, nonce = key_ring.current(), os.urandom(NONCE_BYTES)
    head: dict[str, Any] = {"v": 1, "alg": ALGORITHM, "key": key.name, "bound": list(subject.bound())}
    if key.data_key is not None:
        head["data_key"] = to_base64(key.data_key)
    ciphertext = cipher_class(key.key).encrypt(nonce, text.encode(), _additional(head, subject, purpose))
    envelope = {"minutehand": head | {"iv": to_base64(nonce), "text": to_base64(ciphertext)}}
    return json.dumps(envelope, separators=(",", ":"))


def decrypt(value: object, subject: Subject, purpose: Purpose = "payload") -> str:
    """Return the JSON text that was encrypted for this row.

    Raises KeyMissingError if the key is not available, and DecryptionError if the value was not encrypted for this row.
    """
    head = _head(value)
    data_key = _decode(head["data_key"]) if "data_key" in head else None
    key, nonce, text = _find(head["key"], data_key), _decode(head["iv"]), _decode(head["text"])
    # Installed, since the key was found.
    from cryptography.exceptions import InvalidTag

    try:
        return str(_cipher()(key).decrypt(nonce, text, _additional(head, subject, purpose)).decode())
    except (InvalidTag, ValueError):
        raise DecryptionError(
            f"the {purpose} cannot be decrypted: it was modified, or encrypted for another job"
        ) from None


def bound_columns(value: object) -> list[str]:
    """Return the columns that an encrypted payload is bound to."""
    return list(_head(value)["bound"])


def decrypted_payload(job: Claimed) -> Any:
    """Return a claimed job's payload in clear text.

    With MINUTEHAND_ENCRYPTION_REQUIRED, refuse a payload that is not encrypted.
    """
    if is_encrypted(job.payload):
        return decode(decrypt(job.payload, Subject.of(job)))
    if ENCRYPTION_REQUIRED.read():
        raise DecryptionError(f"the payload must be encrypted, since {ENCRYPTION_REQUIRED.name} is set")
    return job.payload


def encrypt_result(text: str, job: Named) -> str | None:
    """Return a result encrypted and bound to its job's id and kind; None, with a warning, if that is not possible.

    The attempt succeeds without the result, which is never stored in clear text.
    """
    # The application that handled the job may have encrypted it.
    if _is_envelope(decode(text)):
        return text
    try:
        return encrypt(text, Subject(kind=job.kind, id=str(job.id)), "result")
    except ConfigurationError as error:
        logger.warning("the result of job %s was not stored: %s", job.id, error)
        return None


def decrypted_result(value: Any, row: Any) -> Any:
    """Return a result in clear text."""
    return decode(decrypt(value, Subject.of(row), "result")) if is_encrypted(value) else value


def _find(name: str, data_key: bytes | None) -> bytes:
    """Return a message's key. Invalid settings count as a missing key, so that the job waits."""
    try:
        _cipher()
        return key_ring.find(name, data_key)
    except ConfigurationError as error:
        raise KeyMissingError(str(error)) from error


def _is_envelope(value: object) -> bool:
    """Return whether this is a complete envelope."""
    try:
        return is_encrypted(value) and bool(_head(value))
    except DecryptionError:
        return False


def _head(value: object) -> dict[str, Any]:
    """Return the contents of an envelope, after checking their types."""
    head: dict[str, Any] = value["minutehand"] if isinstance(value, dict) else {}
    if head.get("v") != 1 or head.get("alg") != ALGORITHM:
        raise DecryptionError("the encryption format is not supported by this version")
    texts = [head.get(name) for name in ("key", "iv", "text")] + [head.get("data_key", "")]
    bound = head.get("bound")
    if not all(isinstance(text, str) for text in texts) or not isinstance(bound, list):
        raise DecryptionError("the encryption envelope is damaged")
    if "kind" not in bound or not all(name in COLUMNS for name in bound):
        raise DecryptionError("the encryption envelope is not bound to a kind")
    return head


def _additional(head: dict[str, Any], subject: Subject, purpose: Purpose) -> bytes:
    """Return the additional data: the purpose, the envelope's head, and the values of the bound columns."""
    public = {name: value for name, value in head.items() if name not in ("iv", "text")}
    values = [getattr(subject, name) for name in head["bound"]]
    return json.dumps(["minutehand", purpose, public, values], sort_keys=True, separators=(",", ":")).encode()


def _cipher() -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ModuleNotFoundError:
        raise ConfigurationError(
            "encryption needs an extra; run: pip install 'minutehand[encryption]'"
        ) from None
    return AESGCM


def _decode(text: str) -> bytes:
    try:
        return from_base64(text)
    except ValueError:
        raise DecryptionError("the encryption envelope is damaged") from None
