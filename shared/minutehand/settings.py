"""What the environment says, read when asked and never at import."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

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
    """Return DATABASE_URL; raise ConfigurationError when there is none."""
    url = environment.get("DATABASE_URL", "")
    if not url:
        raise ConfigurationError("DATABASE_URL is not set: name the Postgres, as postgresql://user:password@host/database")
    return url


def _whole(environment: Mapping[str, str], name: str, default: int, most: int) -> int:
    text = environment.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= most:
        raise ConfigurationError(f"{name} is {text!r}: it is a whole number from 1 to {most}")
    return int(text)
