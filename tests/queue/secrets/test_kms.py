"""KMS keys: data keys are generated and decrypted by KMS, and reused within limits."""

import base64
import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws
from moto.backends import get_backend

from minutehand import ConfigurationError
from minutehand.aws import KmsKeys
from minutehand.encryption import key_ring
from minutehand.encryption.envelope import Subject, decrypt, encrypt
from minutehand.encryption.key_ring import DataKeys
from minutehand.errors import KeyMissingError
from tests.queue.stage import Queue

REGION = "eu-central-1"
KEY = "MINUTEHAND_ENCRYPTION_KEY"
PREVIOUS = "MINUTEHAND_PREVIOUS_ENCRYPTION_KEYS"


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A mock KMS, and an empty cache of data keys."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        key_ring.data_keys.cache_clear()
        monkeypatch.setenv(KEY, new_key())
        yield monkeypatch
        key_ring.data_keys.cache_clear()


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The requests to KMS, counted by action."""
    counted: Counter[str] = Counter()
    request = KmsKeys._request

    def counting(self: KmsKeys, key: str, action: str, **options: object) -> object:
        counted[action] += 1
        return request(self, key, action, **options)

    monkeypatch.setattr(KmsKeys, "_request", counting)
    return counted


def new_key(region: str = REGION) -> str:
    arn: str = boto3.client("kms", region_name=region).create_key()["KeyMetadata"]["Arn"]
    return arn


def test_kms_payload_is_decrypted_by_another_permitted_process(
    direct_queue: Queue, setting: pytest.MonkeyPatch
) -> None:
    job_id = direct_queue.enqueue(payload={"card": "4929-private"})
    envelope = direct_queue.row(job_id).payload["minutehand"]
    assert envelope["key"].startswith("arn:aws:kms:")
    key_ring.data_keys.cache_clear()

    payloads: list[object] = []
    direct_queue.work(payloads.append)

    assert payloads == [{"card": "4929-private"}]


def test_data_key_is_generated_and_decrypted_once(
    setting: pytest.MonkeyPatch, requests: Counter[str]
) -> None:
    subject = Subject("echo", id=str(uuid4()))
    texts = [encrypt(str(n), subject) for n in range(50)]
    payloads = [decrypt(json.loads(text), subject) for text in texts]

    assert payloads == [str(n) for n in range(50)]
    assert requests == {"generate_data_key": 1, "decrypt": 1}


def test_data_key_is_replaced_after_its_limits(setting: pytest.MonkeyPatch, requests: Counter[str]) -> None:
    name = new_key()
    few = DataKeys(KmsKeys, messages=3)
    assert len({few.current(name).key for _ in range(7)}) == 3
    short = DataKeys(KmsKeys, age=timedelta(0))
    assert len({short.current(name).key for _ in range(3)}) == 3

    requests.clear()
    made = few.current(name)
    assert made.data_key is not None
    assert {short.decrypted(name, made.data_key) for _ in range(3)} == {made.key}
    assert requests["decrypt"] == 3


def test_changed_data_key_decrypts_nothing(setting: pytest.MonkeyPatch) -> None:
    subject = Subject("echo", id=str(uuid4()))
    envelope = json.loads(encrypt("1", subject))
    data_key = bytearray(base64.b64decode(envelope["minutehand"]["data_key"]))
    data_key[-1] ^= 1
    envelope["minutehand"]["data_key"] = base64.b64encode(data_key).decode()

    with pytest.raises(KeyMissingError):
        decrypt(envelope, subject)


def test_unconfigured_key_is_not_requested_from_kms(
    setting: pytest.MonkeyPatch, requests: Counter[str]
) -> None:
    """A row may name any key, so only configured keys are requested."""
    subject = Subject("echo", id=str(uuid4()))
    envelope = json.loads(encrypt("1", subject))
    old = envelope["minutehand"]["key"]
    setting.setenv(KEY, new_key())

    with pytest.raises(KeyMissingError):
        decrypt(envelope, subject)
    assert requests["decrypt"] == 0

    setting.setenv(PREVIOUS, f"{bytes(32).hex()},{old}")
    assert decrypt(envelope, subject) == "1"


def test_key_in_another_region_is_requested_from_that_region(setting: pytest.MonkeyPatch) -> None:
    setting.setenv(KEY, new_key("us-east-1"))
    subject = Subject("echo", id=str(uuid4()))

    assert decrypt(json.loads(encrypt("1", subject)), subject) == "1"


def test_kms_refusal_fails_the_enqueue_and_releases_the_job(
    direct_queue: Queue, setting: pytest.MonkeyPatch
) -> None:
    arn = new_key()
    setting.setenv(KEY, arn)
    direct_queue.enqueue(payload="x")
    key_ring.data_keys.cache_clear()
    # Deletes the key.
    get_backend("kms").reset()

    with pytest.raises(ConfigurationError, match="KMS answered NotFoundException; the key does not exist"):
        direct_queue.enqueue(payload="y")
    (finish,) = direct_queue.work(lambda payload: payload)
    assert (finish.ending, (finish.error or {})["type"]) == ("released", "KeyMissingError")
