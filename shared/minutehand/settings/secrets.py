"""Secrets: texts from Secrets Manager and signed tokens, fetched once and cached."""

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from threading import Lock
from time import time

from minutehand.errors import ConfigurationError

MAX_AGE = timedelta(minutes=5)
TOKEN_MAX_AGE = timedelta(minutes=10)
# How long a text stays in use when a new one cannot be fetched.
EXTENSION = timedelta(minutes=1)

logger = logging.getLogger("minutehand.settings")


class SecretCache:
    """Texts that cost a request to fetch, cached until they reach their maximum age."""

    def __init__(self) -> None:
        """Start empty."""
        self._texts: dict[str, tuple[float, str]] = {}
        self._locks: dict[str, Lock] = {}

    def get(self, name: str, fetch: Callable[[], str], max_age: timedelta) -> str:
        """Return the cached text, or fetch it; threads that need the same text fetch it once.

        The wall clock measures the age: a monotonic clock may stop while the execution environment is frozen.
        """
        with self._lock(name):
            fetched, text = self._texts.get(name, (0.0, ""))
            if not 0 <= time() - fetched < max_age.total_seconds():
                fetched, text = self._texts[name] = self._refresh(name, fetch, max_age)
            return text

    def _refresh(self, name: str, fetch: Callable[[], str], max_age: timedelta) -> tuple[float, str]:
        """Fetch the text; if that fails, extend the use of the cached one.

        If a cached password was rotated, the server refuses it, and `forget` removes it from the cache. The
        warning quotes an error only if it is ours, because those contain no secret.
        """
        now = time()
        try:
            return now, fetch()
        except Exception as error:
            if name not in self._texts:
                raise
            reason = error if isinstance(error, ConfigurationError) else type(error).__name__
            logger.warning("%s could not be fetched; the cached value is used for 1 min: %s", name, reason)
            return now - (max_age - min(max_age, EXTENSION)).total_seconds(), self._texts[name][1]

    def forget(self, name: str) -> None:
        """Remove one text and all tokens."""
        for cached in list(self._texts):
            if cached == name or cached.startswith("token "):
                with self._lock(cached):
                    self._texts.pop(cached, None)

    def _lock(self, name: str) -> Lock:
        return self._locks.setdefault(name, Lock())


cache = SecretCache()


def secret(name: str, environment: Mapping[str, str], max_age: timedelta = MAX_AGE) -> str:
    """Return a variable that is a secret, or the secret that the variable `<name>_SECRET` names, or an empty text."""
    if text := environment.get(name):
        return text
    if not (secret_name := environment.get(f"{name}_SECRET")):
        return ""
    return fetch_secret(secret_name, max_age)


def fetch_secret(name: str, max_age: timedelta) -> str:
    """Return the text of a secret in Secrets Manager."""
    return cache.get(name, lambda: _fetch(name), max_age)


def database_token(host: str, port: int, user: str, max_age: timedelta = TOKEN_MAX_AGE) -> str:
    """Return a token that RDS accepts as the user's password; it is valid for 15 minutes and used for 10."""
    # Imported here, as in _fetch.
    from minutehand.aws import database_token as sign_token

    return cache.get(f"token {user} {host} {port}", lambda: sign_token(host, port, user), max_age)


def _fetch(name: str) -> str:
    # Imported here, so that only processes that use Secrets Manager load it.
    from minutehand.aws import secret_text

    return secret_text(name)
