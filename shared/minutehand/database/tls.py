"""Whose certificate is trusted: for RDS Amazon's own authorities of its region, for others the public ones."""

import os
import re
import ssl
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from minutehand.errors import ConfigurationError
from minutehand.settings import iam, verified

RDS = Path(__file__).with_name("roots")
OF_RDS = re.compile(r"(\.proxy-[a-z0-9]+)?\.([a-z0-9-]+)\.rds\.amazonaws\.com$", re.IGNORECASE)
OF_CHINA = re.compile(r"\.rds\.([a-z0-9-]+)\.amazonaws\.com\.cn$", re.IGNORECASE)
OF_LIBPQ = "~/.postgresql/root.crt"
PUBLIC = [
    "/etc/pki/tls/certs/ca-bundle.crt",  # Lambda
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/cert.pem",
]


def verified_by(parts: dict[str, Any]) -> dict[str, str]:
    """Return libpq's `sslmode` and `sslrootcert`, as far as the URL leaves them open.

    Over a Unix socket and the loopback there is nobody to be taken in by.
    """
    mode = {} if parts.get("sslmode") or _stays_here(parts) else _default_mode()
    said = parts | mode
    if not str(said.get("sslmode", "")).startswith("verify-") or said.get("sslrootcert"):
        return mode
    # Where nobody has a home, as in some containers, the path stays as it is, and Path's own way raises.
    of_libpq = Path(os.path.expanduser(OF_LIBPQ))  # noqa: PTH111
    return mode if of_libpq.exists() else mode | {"sslrootcert": _roots(str(said.get("host", "")))}


def encrypted(parts: dict[str, Any]) -> bool:
    """Whether the connection cannot be one in the clear."""
    return parts.get("sslmode") in ("require", "verify-ca", "verify-full")


def _default_mode() -> dict[str, str]:
    if verified():
        return {"sslmode": "verify-full"}
    return {"sslmode": "require"} if iam() else {}


def _stays_here(parts: dict[str, Any]) -> bool:
    """Whether no name and no address leads away: the driver goes to the address, and verifies the name."""
    hosts = ",".join(str(parts.get(part) or "") for part in ("hostaddr", "host")).split(",")
    return all(host == "" or host[0] in "/@" or _loopback(host) for host in hosts)


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _roots(host: str) -> str:
    if found := OF_RDS.search(host):
        return _of_rds("proxy" if found[1] else found[2].lower(), found[2].lower())
    if found := OF_CHINA.search(host):
        return _of_rds(found[1].lower(), found[1].lower())
    # What Python itself trusts comes first: SSL_CERT_FILE, or where its OpenSSL looks.
    for path in [ssl.get_default_verify_paths().cafile, *PUBLIC]:
        if path and Path(path).exists():
            return path
    raise ConfigurationError("there are no public certificate authorities here: name a file in SSL_CERT_FILE")


def _of_rds(name: str, region: str) -> str:
    path = RDS / f"{name}.pem"
    if path.exists():
        return str(path)
    raise ConfigurationError(
        f"the certificate authority of RDS in {region} is not among those that come with minutehand: "
        f"download {region}-bundle.pem from AWS, put it beside the function, and name it as sslrootcert in the URL"
    )
