"""What the environment says, read when asked and never at import."""

import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from time import time
from urllib.parse import quote

from minutehand.errors import ConfigurationError
from minutehand.model.worker_route import Routes, read_routes

KEEP = timedelta(minutes=5)
KEEP_TOKEN = timedelta(minutes=10)
KEEP_ON = timedelta(minutes=1)  # what could not be had anew

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of the functions and of local runs, each an environment variable.

    MINUTEHAND_CAPACITY     how many jobs may be offered or running at once (50)
    MINUTEHAND_CHUNK        how many jobs an invocation is invited to (1)
    MINUTEHAND_OFFER_TTL    seconds until an offer that nobody claimed is made again (120)
    MINUTEHAND_GRACE        seconds from the end of a worker's time to the end of its lease (2)
    MINUTEHAND_WORKER       the worker function's name or ARN
    MINUTEHAND_WORKERS      the functions of some queues or kinds, as JSON (see minutehand.route)
    """

    capacity: int = 50
    chunk: int = 1
    offer_ttl: timedelta = timedelta(seconds=120)
    grace: timedelta = timedelta(seconds=2)
    workers: Routes = field(default_factory=Routes)


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings; raise ConfigurationError for a value that makes no sense."""
    return Settings(
        capacity=_whole(environment, "MINUTEHAND_CAPACITY", 50, most=10_000),
        chunk=_whole(environment, "MINUTEHAND_CHUNK", 1, most=1000),
        offer_ttl=timedelta(seconds=_whole(environment, "MINUTEHAND_OFFER_TTL", 120, most=3600)),
        grace=timedelta(seconds=_whole(environment, "MINUTEHAND_GRACE", 2, most=900)),
        workers=read_routes(environment),
    )


def database_url(environment: Mapping[str, str] = os.environ, keep: timedelta = KEEP) -> str:
    """Return DATABASE_URL, or what the secret says that MINUTEHAND_DATABASE_SECRET names.

    That secret, by its ARN or name in Secrets Manager, holds the URL, or the JSON that RDS keeps: host, port,
    username, password, dbname. What it lacks of these is in MINUTEHAND_DATABASE_HOST, _PORT and _NAME.
    """
    if url := environment.get("DATABASE_URL"):
        return url
    if name := environment.get("MINUTEHAND_DATABASE_SECRET"):
        return _url(_kept.text(name, lambda: _fetch(name), keep).strip(), environment)
    raise ConfigurationError(
        "DATABASE_URL is not set: name the Postgres, as postgresql://user:password@host/database"
    )


def secret(name: str, environment: Mapping[str, str] = os.environ, keep: timedelta = KEEP) -> str:
    """Return a variable that is a secret, or the text of the secret that the variable `<name>_SECRET` names.

    Nothing said is an empty text. What Secrets Manager answered is good for as long as `keep` says.
    """
    if text := environment.get(name):
        return text
    if not (named := environment.get(f"{name}_SECRET")):
        return ""
    return _kept.text(named, lambda: _fetch(named), keep)


def encrypts(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process encrypts what it enqueues: MINUTEHAND_ENCRYPTION_KEY, or its _SECRET."""
    return any(
        environment.get(name) for name in ("MINUTEHAND_ENCRYPTION_KEY", "MINUTEHAND_ENCRYPTION_KEY_SECRET")
    )


def database_token(host: str, port: int, user: str, keep: timedelta = KEEP_TOKEN) -> str:
    """Return what RDS takes as the user's password; of the fifteen minutes that it is good for, ten are used."""
    # Imported here, as in _fetch.
    from minutehand.aws import database_token as signed

    return _kept.text(f"token {user} {host} {port}", lambda: signed(host, port, user), keep)


def forget(environment: Mapping[str, str] = os.environ) -> None:
    """Fetch the database's secret and sign its tokens anew when they are next asked for: the server refused them."""
    _kept.forget(environment.get("MINUTEHAND_DATABASE_SECRET", ""))


class _Kept:
    """Texts that cost a request, kept until they are old; an environment has a few."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[float, str]] = {}
        self._asking: dict[str, Lock] = {}

    def text(self, name: str, ask: Callable[[], str], keep: timedelta) -> str:
        """Return what was answered last, or ask; threads that want the same at once ask once.

        The wall clock tells the age: the other one may stand still while the environment is frozen.
        """
        with self._lock(name):
            asked, text = self._texts.get(name, (0.0, ""))
            if not 0 <= time() - asked < keep.total_seconds():
                asked, text = self._texts[name] = self._anew(name, ask, keep)
            return text

    def _anew(self, name: str, ask: Callable[[], str], keep: timedelta) -> tuple[float, str]:
        """Ask; where that fails, what is kept is good for another minute: a rotated password is refused and forgotten.

        The warning has the error's sentence only where that is ours, which quotes no secret.
        """
        now = time()
        try:
            return now, ask()
        except Exception as error:
            if name not in self._texts:
                raise
            why = error if isinstance(error, ConfigurationError) else type(error).__name__
            logger.warning("what was read before of %s is used for another minute: %s", name, why)
            return now - (keep - min(keep, KEEP_ON)).total_seconds(), self._texts[name][1]

    def forget(self, name: str) -> None:
        """Forget one, and all tokens."""
        for kept in list(self._texts):
            if kept == name or kept.startswith("token "):
                with self._lock(kept):
                    self._texts.pop(kept, None)

    def _lock(self, name: str) -> Lock:
        return self._asking.setdefault(name, Lock())


_kept = _Kept()


def _fetch(name: str) -> str:
    # Imported here, so that who keeps no secret there does not pay for it.
    from minutehand.aws import secret_text

    return secret_text(name)


def _url(text: str, environment: Mapping[str, str]) -> str:
    """Return the URL that a secret holds; no error quotes any of it."""
    if text.startswith(("postgresql://", "postgres://")):
        return text
    try:
        facts = _elsewhere(environment) | {key: said for key, said in json.loads(text).items() if said}
    except (ValueError, TypeError, AttributeError):
        raise ConfigurationError(
            "the database secret is neither postgresql://... nor a JSON object"
        ) from None
    user = ["username"] if iam(environment) else ["username", "password"]
    if missing := [part for part in (*user, "host", "dbname") if not facts.get(part)]:
        raise ConfigurationError(
            f"the database secret lacks {' and '.join(missing)}: "
            "host, port and name may be in MINUTEHAND_DATABASE_HOST, MINUTEHAND_DATABASE_PORT, MINUTEHAND_DATABASE_NAME"
        )
    part = {name: quote(str(value), safe="") for name, value in facts.items()}
    tls = f"?sslmode={part['sslmode']}" if "sslmode" in part else ""
    return f"postgresql://{':'.join(part[name] for name in user)}@{part['host']}:{part['port']}/{part['dbname']}{tls}"


def _elsewhere(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what RDS's own secret may leave out; no password goes in the clear, unless the secret itself says so."""
    said = {
        "host": environment.get("MINUTEHAND_DATABASE_HOST", ""),
        "port": environment.get("MINUTEHAND_DATABASE_PORT") or "5432",
        "dbname": environment.get("MINUTEHAND_DATABASE_NAME", ""),
    }
    return said if verified(environment) else said | {"sslmode": "require"}


def code_version(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the version of the handlers' code: MINUTEHAND_VERSION, by which jobs can be found to be run again."""
    return environment.get("MINUTEHAND_VERSION") or None


def connect_seconds(environment: Mapping[str, str] = os.environ) -> int:
    """Return how long opening a connection may take, retries and all: MINUTEHAND_CONNECT_TIMEOUT (5)."""
    return _whole(environment, "MINUTEHAND_CONNECT_TIMEOUT", 5, most=900)


def iam(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether tokens are signed in place of a password: MINUTEHAND_DATABASE_IAM."""
    return _one_of(environment, "MINUTEHAND_DATABASE_IAM", ("", "0", "1")) == "1"


def verified(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the server's certificate is verified, unless its URL says otherwise: MINUTEHAND_DATABASE_TLS."""
    return _one_of(environment, "MINUTEHAND_DATABASE_TLS", ("", "verify")) == "verify"


def _one_of(environment: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    if (said := environment.get(name, "")) not in known:
        raise ConfigurationError(f"{name} is {said!r}: it is {' or '.join(filter(None, known))}, or empty")
    return said


def _whole(environment: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = environment.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        raise ConfigurationError(f"{name} is {text!r}: it is a whole number from 1 to {most}")
    return int(text)
