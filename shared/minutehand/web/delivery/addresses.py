"""Decide where a delivery may go: parse the URL once, resolve the host once, accept only public addresses."""

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from minutehand.settings.table import HTTP_ALLOW

_PORTS = {"http": 80, "https": 443}
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_NAT64 = ip_network("64:ff9b::/96")
_GLOBAL_UNICAST = ip_network("2000::/3")
# Python calls these global. The second holds the metadata service of a cloud.
_NOT_PUBLIC = [ip_network("192.88.99.0/24"), ip_network("192.0.0.0/24")]
# Documentation, and the AS112 sink of DNS.
_NOT_PUBLIC_6 = [ip_network("3fff::/20"), ip_network("2620:4f:8000::/48")]


class RefusedDelivery(Exception):
    """A delivery that must not be sent; a retry would not help."""


class UnresolvedHost(Exception):
    """A host whose address was not found; a retry may find it."""


@dataclass(frozen=True)
class Destination:
    """A parsed URL, without the parts that are never sent."""

    scheme: str
    host: str
    port: int
    target: str

    @classmethod
    def parse(cls, url: str) -> "Destination":
        """Parse a URL; raise RefusedDelivery, which never quotes the URL."""
        if _UNSAFE.search(url):
            raise RefusedDelivery(
                "The URL contains a space, a backslash or a control character; percent-encode it."
            )
        try:
            parts = parse_url(url)
        except LocationParseError:
            raise RefusedDelivery("The URL is not valid; write a host outside ASCII in Punycode.") from None
        if parts.scheme not in _PORTS:
            raise RefusedDelivery("The URL must begin with https:// or http://.")
        if parts.auth is not None:
            raise RefusedDelivery("The URL must not contain credentials; send an authorization header.")
        if not parts.host or parts.port == 0:
            raise RefusedDelivery("The URL must have a host and a valid port.")
        host = parts.host.strip("[]").rstrip(".").lower()
        return cls(parts.scheme, host, parts.port or _PORTS[parts.scheme], parts.request_uri)

    @property
    def name(self) -> str:
        """The host as in a URL: an IPv6 address is in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def authority(self) -> str:
        """The host, and the port if it is not the scheme's default."""
        return self.name if self.port == _PORTS[self.scheme] else f"{self.name}:{self.port}"

    @property
    def origin(self) -> str:
        """The part of the URL that errors may quote: paths and queries often contain secrets."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The whole URL, the base of a relative redirect."""
        return self.origin + self.target


def resolve(destination: Destination, seconds: float) -> list[str]:
    """Resolve the host once and return its addresses; raise RefusedDelivery if any of them is not public.

    Connect only to these addresses: a second look-up may return others.
    """
    found = [str(entry[4][0]) for entry in _look_up(destination, seconds)]
    addresses = list(dict.fromkeys(found))
    for address in addresses:
        if not _is_allowed(ip_address(address), destination):
            raise RefusedDelivery(
                f"{destination.name} is not at a public address; to deliver there, add it to MINUTEHAND_HTTP_ALLOW."
            )
    return addresses


def _look_up(destination: Destination, seconds: float) -> list[tuple[Any, ...]]:
    # The resolver has no time limit, so its thread is abandoned when ours ends.
    threads = ThreadPoolExecutor(1)
    found = threads.submit(socket.getaddrinfo, destination.host, destination.port, type=socket.SOCK_STREAM)
    threads.shutdown(wait=False)
    try:
        return found.result(timeout=max(seconds, 0))
    except TimeoutError:
        raise UnresolvedHost(
            f"The address of {destination.name} was not found within the time limit."
        ) from None
    except UnicodeError:
        raise RefusedDelivery("The URL's host is not a valid name.") from None
    except OSError:
        raise UnresolvedHost(f"The address of {destination.name} was not found.") from None


def _is_allowed(address: IPv4Address | IPv6Address, destination: Destination) -> bool:
    inner = _embedded(address)
    return _is_public(inner) or any(_matches(entry, inner, destination) for entry in _allowed())


def _embedded(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address embedded in an IPv6 address, or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        routed = address.is_global and address in _GLOBAL_UNICAST
        return routed and not any(address in block for block in _NOT_PUBLIC_6)
    return (
        address.is_global and not address.is_multicast and not any(address in block for block in _NOT_PUBLIC)
    )


def _allowed() -> list[str]:
    return [entry.lower() for entry in HTTP_ALLOW.read()]


def _matches(entry: str, address: IPv4Address | IPv6Address, destination: Destination) -> bool:
    try:
        return address in ip_network(entry, strict=False)
    except ValueError:
        return entry in (destination.name, f"{destination.name}:{destination.port}")
