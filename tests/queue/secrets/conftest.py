"""An encryption key in the environment."""

import pytest

from tests.queue.secrets.stage import KEY


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("MINUTEHAND_ENCRYPTION_KEY", KEY)
    return monkeypatch
