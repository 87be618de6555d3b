"""Secrets: a payload is encrypted before it is a row, and decrypted where its handler runs.

AES-256-GCM by `cryptography`, a nonce of chance for each message. What is in the row instead of the payload:

    {"minutehand": {"v": 1, "alg": "A256GCM", "key": ..., "bound": ["id", "kind"], "iv": ..., "text": ...}}

`bound` names the columns whose values are its additional data: moved to a row where any of them is another, it does not
decrypt. That is the kind always, and what else names the job: its id; or its key, when the row's id is not the
enqueuer's to choose, since a job with a key may replace one that is there, and one that recurs has many ids. Queue and
tenant are bound beside the key where the enqueuer says them.
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
from minutehand.errors import ConfigurationError, KeyMissingError, SealBrokenError
from minutehand.model.encoding import from_base64, to_base64
from minutehand.model.payload import decode
from minutehand.settings.table import ENCRYPTION_REQUIRED

ALGORITHM = "A256GCM"
NONCE_BYTES = 12
logger = logging.getLogger(__name__)

COLUMNS = ("id", "key", "kind", "queue", "schedule", "tenant")
Purpose = Literal["payload", "result"]


class Named(Protocol):
    """A job by its id and kind, such as a claimed one or one delivered over HTTP."""

    @property
    def id(self) -> UUID:
        """The job's id."""

    @property
    def kind(self) -> str:
        """The job's kind."""


class Claimed(Protocol):
    """A job with the payload as it is stored."""

    payload: Any


@dataclass(frozen=True)
class Subject:
    """The columns of a row that what it carries is bound to; what is empty is not."""

    kind: str
    id: str = ""
    key: str = ""
    queue: str = ""
    tenant: str = ""
    schedule: str = ""

    @classmethod
    def of(cls, row: Any) -> "Subject":
        """Read a claimed job, or a record."""
        told = {
            name: row.get(name) if isinstance(row, dict) else getattr(row, name, None) for name in COLUMNS
        }
        return cls(**{name: str(value or "") for name, value in told.items()})

    def bound(self) -> tuple[str, ...]:
        """Name the columns that have a value."""
        return tuple(name for name in COLUMNS if getattr(self, name))


def sealed(said: dict[str, Any], clock: Callable[[], datetime], tenant: str = "") -> dict[str, Any]:
    """Return the parameters of a new job with its payload encrypted; one that has no other name gets its id here.

    An enqueuer that has encrypted the payload by itself is left alone.
    """
    if is_sealed(decode(said["payload"])):
        return said
    named = said["key"] is not None or said["every"] is not None
    job_id = None if named else uuid7(clock())
    beside = {"queue": said["queue"] or "", "tenant": said["tenant"] or tenant} if named else {}
    subject = Subject(said["kind"] or "", id=str(job_id or ""), key=said["key"] or "", **beside)
    return said | {"payload": seal(said["payload"], subject), "id": job_id}


def encrypted_for(row: dict[str, Any], text: str) -> str:
    """Return a payload encrypted for a job that is there; for one that recurs it is that of all its occurrences."""
    kept = {"id": ""} if row["every"] else {"key": "", "queue": "", "tenant": "", "schedule": ""}
    return seal(text, replace(Subject.of(row), **kept))


def uuid7(moment: datetime) -> UUID:
    """Return an id as the database makes them: RFC 9562, version 7, so that ids sort by the moment they are of."""
    bits = int.from_bytes(os.urandom(10), "big")
    head = round(moment.timestamp() * 1000) << 80
    return UUID(int=head | 7 << 76 | (bits >> 62 & 0xFFF) << 64 | 2 << 62 | bits & (1 << 62) - 1)


def is_sealed(value: object) -> bool:
    """Whether a payload or a result is encrypted."""
    inner = value.get("minutehand") if isinstance(value, dict) and len(value) == 1 else None
    return isinstance(inner, dict) and "v" in inner and "text" in inner


def seal(text: str, subject: Subject, purpose: Purpose = "payload") -> str:
    """Return JSON text encrypted with the current key, as the JSON text that is in the row."""
    cipher = _cipher()
    key, nonce = key_ring.current(), os.urandom(NONCE_BYTES)
    head: dict[str, Any] = {"v": 1, "alg": ALGORITHM, "key": key.name, "bound": list(subject.bound())}
    if key.data_key is not None:
        head["data_key"] = to_base64(key.data_key)
    encrypted = cipher(key.key).encrypt(nonce, text.encode(), _additional(head, subject, purpose))
    envelope = {"minutehand": head | {"iv": to_base64(nonce), "text": to_base64(encrypted)}}
    return json.dumps(envelope, separators=(",", ":"))


def unseal(value: object, subject: Subject, purpose: Purpose = "payload") -> str:
    """Return the JSON text that was encrypted for this row.

    Raises KeyMissingError where its key is not at hand, and SealBrokenError for what was not encrypted for this row.
    """
    head = _head(value)
    data_key = _decode(head["data_key"]) if "data_key" in head else None
    key, nonce, text = _find(head["key"], data_key), _decode(head["iv"]), _decode(head["text"])
    from cryptography.exceptions import InvalidTag  # there, if the key was found

    try:
        return str(_cipher()(key).decrypt(nonce, text, _additional(head, subject, purpose)).decode())
    except (InvalidTag, ValueError):
        raise SealBrokenError(
            f"the {purpose} does not decrypt: it was changed, or encrypted for another job"
        ) from None


def bound_in(value: object) -> list[str]:
    """Name the columns that an encrypted payload is bound to."""
    return list(_head(value)["bound"])


def opened(job: Claimed) -> Any:
    """Return a claimed job's payload in clear; refuse one that never was encrypted where all have to be."""
    if is_sealed(job.payload):
        return decode(unseal(job.payload, Subject.of(job)))
    if ENCRYPTION_REQUIRED.read():
        raise SealBrokenError(f"the payload is not encrypted, and {ENCRYPTION_REQUIRED.name} is set")
    return job.payload


def result_text(text: str, job: Named) -> str | None:
    """Return a result encrypted and bound to its job's id and kind; None, and a warning, where that cannot be.

    The work is done all the same, so that is no failure of the attempt; in clear it is not kept.
    """
    if _is_whole(decode(text)):  # by the application that handled the job
        return text
    try:
        return seal(text, Subject(kind=job.kind, id=str(job.id)), "result")
    except ConfigurationError as error:
        logger.warning("the result of job %s was not kept: %s", job.id, error)
        return None


def open_result(value: Any, row: Any) -> Any:
    """Return a result in clear."""
    return decode(unseal(value, Subject.of(row), "result")) if is_sealed(value) else value


def _find(name: str, data_key: bytes | None) -> bytes:
    """Return a message's key; what is wrong with this process's settings is a key that is missing."""
    try:
        _cipher()
        return key_ring.find(name, data_key)
    except ConfigurationError as error:
        raise KeyMissingError(str(error)) from error


def _is_whole(value: object) -> bool:
    """Whether this is an envelope, and not only something that looks like one."""
    try:
        return is_sealed(value) and bool(_head(value))
    except SealBrokenError:
        return False


def _head(value: object) -> dict[str, Any]:
    """Return the inside of an envelope whose every part is of its type."""
    head: dict[str, Any] = value["minutehand"] if isinstance(value, dict) else {}
    if head.get("v") != 1 or head.get("alg") != ALGORITHM:
        raise SealBrokenError("it is encrypted in a way that this version does not know")
    texts = [head.get(name) for name in ("key", "iv", "text")] + [head.get("data_key", "")]
    bound = head.get("bound")
    if not all(isinstance(text, str) for text in texts) or not isinstance(bound, list):
        raise SealBrokenError("its envelope is damaged")
    if "kind" not in bound or not all(name in COLUMNS for name in bound):
        raise SealBrokenError("its envelope is not bound to a kind")
    return head


def _additional(head: dict[str, Any], subject: Subject, purpose: Purpose) -> bytes:
    """Return the additional data: what it is, the envelope's head, and the values of the columns it is bound to."""
    told = {name: value for name, value in head.items() if name not in ("iv", "text")}
    values = [getattr(subject, name) for name in head["bound"]]
    return json.dumps(["minutehand", purpose, told, values], sort_keys=True, separators=(",", ":")).encode()


def _cipher() -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ModuleNotFoundError:
        raise ConfigurationError(
            "encryption is an extra; run: pip install 'minutehand[encryption]'"
        ) from None
    return AESGCM


def _decode(text: str) -> bytes:
    try:
        return from_base64(text)
    except ValueError:
        raise SealBrokenError("its envelope is damaged") from None
