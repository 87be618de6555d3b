"""The database's URL: from the environment, or from a secret that holds it or its parts."""

import json
from collections.abc import Mapping
from urllib.parse import quote

from minutehand.errors import ConfigurationError
from minutehand.settings.table import (
    DATABASE_HOST,
    DATABASE_IAM,
    DATABASE_NAME,
    DATABASE_PORT,
    DATABASE_TLS,
)


def parse_secret(text: str, environment: Mapping[str, str]) -> str:
    """Return the URL that a secret holds, as it is or as the JSON of RDS; errors never quote it."""
    if text.startswith(("postgresql://", "postgres://")):
        return text
    try:
        parts = _defaults(environment) | {name: value for name, value in json.loads(text).items() if value}
    except (ValueError, TypeError, AttributeError):
        raise ConfigurationError(
            "the database secret must be a URL that begins with postgresql://, or a JSON object"
        ) from None
    user = ["username"] if DATABASE_IAM.read(environment) else ["username", "password"]
    if missing := [part for part in (*user, "host", "dbname") if not parts.get(part)]:
        raise ConfigurationError(
            f"the database secret lacks {' and '.join(missing)}; set host, port and name in "
            f"{DATABASE_HOST.name}, {DATABASE_PORT.name} and {DATABASE_NAME.name}"
        )
    quoted = {name: quote(str(value), safe="") for name, value in parts.items()}
    tls = f"?sslmode={quoted['sslmode']}" if "sslmode" in quoted else ""
    address = f"{quoted['host']}:{quoted['port']}/{quoted['dbname']}"
    return f"postgresql://{':'.join(quoted[name] for name in user)}@{address}{tls}"


def _defaults(environment: Mapping[str, str]) -> dict[str, object]:
    """Return the parts that RDS's secret may lack; TLS is required unless the secret itself sets `sslmode`."""
    parts = {
        "host": DATABASE_HOST.read(environment),
        "port": DATABASE_PORT.read(environment),
        "dbname": DATABASE_NAME.read(environment),
    }
    return parts if DATABASE_TLS.read(environment) else parts | {"sslmode": "require"}
