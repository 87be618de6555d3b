"""What the environment says, read when asked and never at import."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from urllib.parse import quote

from minutehand.errors import ConfigurationError


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of the functions and of local runs, each an environment variable.

    MINUTEHAND_CAPACITY     how many jobs may be offered or running at once (50)
    MINUTEHAND_CHUNK        how many jobs an invocation is invited to (1)
    MINUTEHAND_OFFER_TTL    seconds until an offer that nobody claimed is made again (120)
    MINUTEHAND_GRACE        seconds from the end of a worker's time to the end of its lease (2)
    MINUTEHAND_WORKER       the worker function's name or ARN
    """

    capacity: int = 50
    chunk: int = 1
    offer_ttl: timedelta = timedelta(seconds=120)
    grace: timedelta = timedelta(seconds=2)
    worker: str = ""


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings; raise ConfigurationError for a value that makes no sense."""
    return Settings(
        capacity=_whole(environment, "MINUTEHAND_CAPACITY", 50, most=10_000),
        chunk=_whole(environment, "MINUTEHAND_CHUNK", 1, most=1000),
        offer_ttl=timedelta(seconds=_whole(environment, "MINUTEHAND_OFFER_TTL", 120, most=3600)),
        grace=timedelta(seconds=_whole(environment, "MINUTEHAND_GRACE", 2, most=900)),
        worker=environment.get("MINUTEHAND_WORKER", ""),
    )


def database_url(environment: Mapping[str, str] = os.environ) -> str:
    """Return DATABASE_URL, or what the secret says that MINUTEHAND_DATABASE_SECRET names.

    That secret, by its ARN or name in Secrets Manager, holds the URL, or the JSON that RDS keeps: host, port,
    username, password, dbname. It is read anew at every call, so that a rotated password is the one that is used.
    """
    if url := environment.get("DATABASE_URL"):
        return url
    if name := environment.get("MINUTEHAND_DATABASE_SECRET"):
        return _url(_fetch(name).strip())
    raise ConfigurationError(
        "DATABASE_URL is not set: name the Postgres, as postgresql://user:password@host/database"
    )


def secret(
    name: str, environment: Mapping[str, str] = os.environ, keep: timedelta = timedelta(minutes=5)
) -> str:
    """Return a variable that is a secret, or the text of the secret that the variable `<name>_SECRET` names.

    Nothing said is an empty text. What Secrets Manager answered is good for as long as `keep` says.
    """
    if text := environment.get(name):
        return text
    if not (named := environment.get(f"{name}_SECRET")):
        return ""
    read, text = _kept.get(named, (0.0, ""))
    if not read or monotonic() - read >= keep.total_seconds():
        read, text = _kept[named] = monotonic(), _fetch(named)
    return text


_kept: dict[str, tuple[float, str]] = {}


def _fetch(name: str) -> str:
    # Imported here, so that who keeps no secret there does not pay for boto3.
    from minutehand.aws import secret_text

    return secret_text(name)


def _url(text: str) -> str:
    """Return the URL that a secret holds; no error quotes any of it."""
    if text.startswith(("postgresql://", "postgres://")):
        return text
    try:
        facts = {"port": 5432, "sslmode": "require"} | json.loads(text)
    except (ValueError, TypeError):
        raise ConfigurationError(
            "the database secret is neither postgresql://... nor a JSON object"
        ) from None
    if missing := [part for part in ("username", "password", "host", "dbname") if not facts.get(part)]:
        raise ConfigurationError(f"the database secret lacks {' and '.join(missing)}")
    part = {name: quote(str(value), safe="") for name, value in facts.items()}
    return "postgresql://{username}:{password}@{host}:{port}/{dbname}?sslmode={sslmode}".format_map(part)


def _whole(environment: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = environment.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        raise ConfigurationError(f"{name} is {text!r}: it is a whole number from 1 to {most}")
    return int(text)
