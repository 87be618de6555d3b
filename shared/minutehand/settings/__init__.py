"""Settings: the environment variables that configure minutehand, declared in `table`.

Each is read when it is needed and never at import, so that a snapshot of a function contains no configuration.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from minutehand.errors import ConfigurationError
from minutehand.model.worker_route import WorkerRoutes
from minutehand.settings import table
from minutehand.settings.database import parse_secret
from minutehand.settings.secrets import MAX_AGE, cache, fetch_secret
from minutehand.settings.secrets import database_token as database_token
from minutehand.settings.secrets import secret as read_secret


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of the flow; `minutehand.settings.table` describes each."""

    capacity: int = 50
    chunk: int = 1
    concurrency: int = 10
    jobs_per_invocation: int = 100
    offer_ttl: timedelta = timedelta(seconds=120)
    grace: timedelta = timedelta(seconds=2)
    workers: WorkerRoutes = field(default_factory=WorkerRoutes)


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings of the flow; raise ConfigurationError if any setting of minutehand is invalid.

    All are validated, so that a worker with an invalid setting fails before it claims a job.
    """
    if errors := find_errors(environment):
        raise ConfigurationError("; ".join(errors))
    return Settings(
        capacity=table.CAPACITY.read(environment),
        chunk=table.CHUNK.read(environment),
        concurrency=table.CONCURRENCY.read(environment),
        jobs_per_invocation=table.JOBS_PER_INVOCATION.read(environment),
        offer_ttl=timedelta(seconds=table.OFFER_TTL.read(environment)),
        grace=timedelta(seconds=table.GRACE.read(environment)),
        workers=read_worker_routes(environment),
    )


def read_worker_routes(environment: Mapping[str, str] = os.environ) -> WorkerRoutes:
    """Return the worker functions that the dispatcher invokes."""
    return WorkerRoutes(table.WORKER_NAME.read(environment), table.WORKER_ROUTES.read(environment))


def find_errors(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return a sentence for each setting that has an invalid value."""
    errors = []
    for setting in table.SETTINGS.values():
        try:
            setting.read(environment)
        except ConfigurationError as error:
            errors.append(str(error))
    return errors


def database_url(environment: Mapping[str, str] = os.environ, max_age: timedelta = MAX_AGE) -> str:
    """Return DATABASE_URL, or the URL in the secret that MINUTEHAND_DATABASE_SECRET names.

    The secret contains the URL, or the JSON that RDS writes: host, port, username, password, dbname. Host, port and
    name may be in MINUTEHAND_DATABASE_HOST, _PORT and _NAME instead.
    """
    if url := table.DATABASE_URL.read(environment):
        return url
    if name := table.DATABASE_SECRET.read(environment):
        return parse_secret(fetch_secret(name, max_age).strip(), environment)
    raise ConfigurationError(
        "DATABASE_URL is not set; set it to the URL of your database: postgresql://user:password@host/database"
    )


def names_database(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment names a database, by its URL or by a secret."""
    return any(setting.read(environment) for setting in (table.DATABASE_URL, table.DATABASE_SECRET))


def secret(name: str, environment: Mapping[str, str] = os.environ, max_age: timedelta = MAX_AGE) -> str:
    """Return a secret setting by its name, from its variable or from Secrets Manager; an empty text if it is unset."""
    return read_secret(table.SETTINGS[name].name, environment, max_age)


def encrypts(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this process encrypts payloads: MINUTEHAND_ENCRYPTION_KEY, or its _SECRET, is set."""
    key, secret = table.ENCRYPTION_KEY, table.SETTINGS[f"{table.ENCRYPTION_KEY.name}_SECRET"]
    return bool(key.read(environment) or secret.read(environment))


def forget(environment: Mapping[str, str] = os.environ) -> None:
    """Fetch the database's secret, and sign its tokens, again at the next use, because the server refused them."""
    cache.forget(table.DATABASE_SECRET.read(environment))


def code_version(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the version of the handlers' code, by which jobs can be found and run again."""
    return table.VERSION.read(environment) or None


def sleeps(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the mode is sleep, in which wake-ups start the ticks."""
    return table.MODE.read(environment) == "sleep"


def connect_seconds(environment: Mapping[str, str] = os.environ) -> int:
    """Return the time limit for opening a connection, including retries."""
    return table.CONNECT_TIMEOUT.read(environment)


def iam(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether tokens are signed instead of using a password."""
    return table.DATABASE_IAM.read(environment)


def fetches_password(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the password is that of a secret, or a signed token, and not the one in DATABASE_URL."""
    return iam(environment) or (
        bool(table.DATABASE_SECRET.read(environment)) and not table.DATABASE_URL.read(environment)
    )


def verified(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the server's certificate is verified, unless the URL contains `sslmode`."""
    return table.DATABASE_TLS.read(environment) == "verify"


def prepares(environment: Mapping[str, str] = os.environ) -> str:
    """Return whether statements are prepared: auto, always or never."""
    return table.PREPARE.read(environment)


def is_local(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether this is a local run, which needs neither tokens nor signatures; never in Lambda."""
    return "AWS_LAMBDA_FUNCTION_NAME" not in environment and table.LOCAL.read(environment)
