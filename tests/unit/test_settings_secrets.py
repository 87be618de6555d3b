"""The cache of secrets: its lifetime, and failures to fetch a new text."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from minutehand import ConfigurationError
from minutehand.settings import secrets
from minutehand.settings.secrets import MAX_AGE, SecretCache


class Source:
    """A store of one secret; an empty text stands for a store that is down."""

    def __init__(self) -> None:
        self.text, self.requests = "old", 0

    def __call__(self) -> str:
        self.requests += 1
        if not self.text:
            raise ConfigurationError("no answer")
        return self.text


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of day, which a test sets."""
    now = [1_000_000.0]
    monkeypatch.setattr(secrets, "time", lambda: now[0])
    return now


def test_cached_text_is_extended_by_a_minute_when_fetching_fails(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    cache, source = SecretCache(), Source()
    seen = []
    for minutes, text in [(0, "old"), (5, ""), (5.9, "new"), (6, "new"), (6.9, "newer")]:
        clock[0], source.text = 1_000_000 + minutes * 60, text
        seen.append((cache.get("mine", source, MAX_AGE), source.requests))

    assert seen == [("old", 1), ("old", 2), ("old", 2), ("new", 3), ("new", 3)]
    assert caplog.messages == ["mine could not be fetched; the cached value is used for 1 min: no answer"]


def test_forgotten_text_is_not_used_when_fetching_fails(clock: list[float]) -> None:
    cache, source = SecretCache(), Source()
    cache.get("mine", source, MAX_AGE)
    cache.forget("mine")
    source.text = ""

    with pytest.raises(ConfigurationError, match="no answer"):
        cache.get("mine", source, MAX_AGE)


def test_warning_does_not_quote_errors_of_other_libraries(
    clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> str:
        raise ValueError("hunter2")

    cache = SecretCache()
    cache.get("mine", Source(), MAX_AGE)
    clock[0] += 3600

    assert cache.get("mine", fail, MAX_AGE) == "old"
    assert "ValueError" in caplog.text
    assert "hunter2" not in caplog.text


def test_fetching_a_secret_does_not_block_another() -> None:
    cache = SecretCache()
    inner: list[str] = []
    with ThreadPoolExecutor() as threads:

        def fetch() -> str:
            inner.append(threads.submit(cache.get, "other", Source(), MAX_AGE).result(timeout=10))
            return "mine"

        assert cache.get("mine", fetch, MAX_AGE) == "mine"
    assert inner == ["old"]
