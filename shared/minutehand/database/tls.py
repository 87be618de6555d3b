"""TLS: verify certificates of RDS with Amazon's authorities for the region, others with the public ones."""

import os
import re
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from minutehand.errors import ConfigurationError
from minutehand.settings import iam, verified

RDS = Path(__file__).with_name("roots")
OF_RDS = re.compile(r"(\.proxy-[a-z0-9]+)?\.([a-z0-9-]+)\.rds\.amazonaws\.com$", re.IGNORECASE)
OF_CHINA = re.compile(r"\.rds\.([a-z0-9-]+)\.amazonaws\.com\.cn$", re.IGNORECASE)
OF_LIBPQ = "~/.postgresql/root.crt"
# The first is Lambda's.
PUBLIC = [
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/cert.pem",
]


def verified_by(parts: dict[str, Any]) -> dict[str, str]:
    """Return libpq's `sslmode` and `sslrootcert`, unless the URL sets them.

    Unix sockets and the loopback interface need no verification.
    """
    mode = {} if parts.get("sslmode") or _is_local(parts) else _default_mode()
    effective = parts | mode
    if not str(effective.get("sslmode", "")).startswith("verify-") or effective.get("sslrootcert"):
        return mode
    # Without a home directory, as in some containers, this leaves the path as it is; Path.expanduser would raise.
    of_libpq = Path(os.path.expanduser(OF_LIBPQ))  # noqa: PTH111
    return mode if of_libpq.exists() else mode | {"sslrootcert": _roots(str(effective.get("host", "")))}


def is_encrypted(parts: dict[str, Any]) -> bool:
    """Return whether the connection must be encrypted."""
    return parts.get("sslmode") in ("require", "verify-ca", "verify-full")


def is_rds_proxy(host: str) -> bool:
    """Return whether a host is an RDS Proxy."""
    found = OF_RDS.search(host)
    return found is not None and found[1] is not None


def _default_mode() -> dict[str, str]:
    if verified():
        return {"sslmode": "verify-full"}
    return {"sslmode": "require"} if iam() else {}


def _is_local(parts: dict[str, Any]) -> bool:
    """Return whether host and address are local. The driver connects to the address, and verifies the name."""
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
    # Imported only when used, for the sake of cold starts.
    import ssl

    # First the file that Python itself trusts: SSL_CERT_FILE, or the default of its OpenSSL.
    for path in [ssl.get_default_verify_paths().cafile, *PUBLIC]:
        if path and Path(path).exists():
            return path
    raise ConfigurationError("no public certificate authorities found; name a file in SSL_CERT_FILE")


def _of_rds(name: str, region: str) -> str:
    path = RDS / f"{name}.pem"
    if path.exists():
        return str(path)
    raise ConfigurationError(
        f"minutehand ships no certificate authority for RDS in {region}; "
        f"download {region}-bundle.pem from AWS, add it to the function, and name it as sslrootcert in the URL"
    )
