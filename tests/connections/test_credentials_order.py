"""Credentials are found in the order of botocore."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.session import Session

from minutehand.aws import role
from tests.connections.manager import CREDENTIALS

PROFILE = """
[jobs]
aws_access_key_id = of-the-profile
aws_secret_access_key = secret
"""


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in (*CREDENTIALS, "AWS_LAMBDA_FUNCTION_NAME", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    role._source.cache_clear()
    yield
    role._source.cache_clear()


def test_profile_precedes_the_address_of_a_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    files = tmp_path / "credentials"
    files.write_text(PROFILE)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(files))
    monkeypatch.setenv("AWS_PROFILE", "jobs")
    # Nothing answers there.
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:9/none")

    found = Session().get_credentials()

    assert found is not None
    assert role.credentials().access_key == found.access_key == "of-the-profile"
