"""Signing: AWS's Signature Version 4, for requests with a body and for URLs.

botocore has it as well, but signing with it imports a hundred modules, as many as psycopg: a third of a worker's cold
start. The tests compare each signature with botocore's.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote, urlsplit

ALGORITHM = "AWS4-HMAC-SHA256"
# What a URL may contain without being quoted.
UNRESERVED = "-_.~"
# A client does not send the port of its scheme.
DEFAULT_PORTS = {"http": 80, "https": 443}


class Credentials(NamedTuple):
    """An access key; `token` belongs to a temporary one. The names are botocore's."""

    access_key: str
    secret_key: str
    token: str | None = None


class Scope(NamedTuple):
    """What a signature is valid for."""

    service: str
    region: str
    moment: datetime

    @property
    def stamp(self) -> str:
        """The time of the signature, in seconds."""
        return f"{self.moment:%Y%m%dT%H%M%SZ}"

    def __str__(self) -> str:
        """Return the scope as it is signed."""
        return f"{self.moment:%Y%m%d}/{self.region}/{self.service}/aws4_request"


def signed_headers(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    credentials: Credentials,
    service: str,
    region: str,
) -> dict[str, str]:
    """Return the headers of a request with those of its signature. The URL's path and query must be quoted."""
    scope = Scope(service, region, datetime.now(UTC))
    parts = urlsplit(url)
    signed = {name.lower(): value for name, value in headers.items()}
    signed |= {"host": _host(url), "x-amz-date": scope.stamp}
    if credentials.token:
        signed["x-amz-security-token"] = credentials.token
    # The path is quoted twice: in the URL, and again in the signed text.
    path, query = quote(parts.path or "/", safe="/~"), _sorted(parts.query.split("&"))
    signature = _signature(
        [method, path, query], signed, hashlib.sha256(body).hexdigest(), credentials, scope
    )
    authorization = (
        f"{ALGORITHM} Credential={credentials.access_key}/{scope}, "
        f"SignedHeaders={_names(signed)}, Signature={signature}"
    )
    # The client sends the host itself.
    return {name: value for name, value in signed.items() if name != "host"} | {
        "authorization": authorization
    }


def signed_query(
    host: str, query: dict[str, str], credentials: Credentials, service: str, region: str, seconds: int
) -> str:
    """Return the query of a GET request for a host's root, with a signature that is valid for some seconds."""
    scope = Scope(service, region, datetime.now(UTC))
    query = {
        **query,
        "X-Amz-Algorithm": ALGORITHM,
        "X-Amz-Credential": f"{credentials.access_key}/{scope}",
        "X-Amz-Date": scope.stamp,
        "X-Amz-Expires": f"{seconds}",
        "X-Amz-SignedHeaders": "host",
    }
    if credentials.token:
        query["X-Amz-Security-Token"] = credentials.token
    parts = [f"{name}={quote(value, safe=UNRESERVED)}" for name, value in query.items()]
    lines, nothing = ["GET", "/", _sorted(parts)], hashlib.sha256(b"").hexdigest()
    return "&".join(
        [
            *parts,
            f"X-Amz-Signature={_signature(lines, {'host': _host(f'https://{host}')}, nothing, credentials, scope)}",
        ]
    )


def _host(url: str) -> str:
    """Return the header `host` as clients send it: in lower case, and with the port only if it is another one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    named = f"[{host}]" if ":" in host else host
    return named if parts.port in (None, DEFAULT_PORTS.get(parts.scheme)) else f"{named}:{parts.port}"


def _sorted(parameters: list[str]) -> str:
    """Return the parameters of a query, sorted by their names, each with a value."""
    pairs = sorted(each.partition("=")[::2] for each in parameters if each)
    return "&".join(f"{name}={value}" for name, value in pairs)


def _signature(
    lines: list[str], headers: dict[str, str], digest: str, credentials: Credentials, scope: Scope
) -> str:
    described = [f"{name}:{' '.join(headers[name].split())}" for name in sorted(headers)]
    request = "\n".join([*lines, *described, "", _names(headers), digest])
    text = "\n".join([ALGORITHM, scope.stamp, f"{scope}", hashlib.sha256(request.encode()).hexdigest()])
    key = f"AWS4{credentials.secret_key}".encode()
    for part in f"{scope}".split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def _names(headers: dict[str, str]) -> str:
    return ";".join(sorted(headers))
