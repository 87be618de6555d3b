"""Say where a delivery may go: its URL read once, its host looked up once, only public addresses accepted."""

import os
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

_PORTS = {"http": 80, "https": 443}
_UNSAFE = re.compile(r"[\x00-\x20\x7f\\]")
_NAT64 = ip_network("64:ff9b::/96")
_GLOBAL_UNICAST = ip_network("2000::/3")
# Python calls these global; the second is where a cloud keeps its metadata.
_NOT_PUBLIC = [ip_network("192.88.99.0/24"), ip_network("192.0.0.0/24")]
_NOT_PUBLIC_6 = [
    ip_network("3fff::/20"),
    ip_network("2620:4f:8000::/48"),
]  # documentation, and DNS's own sink


class Refused(Exception):
    """A URL that is not delivered to, however often it is tried."""


class Unresolved(Exception):
    """A host whose address was not found this time."""


@dataclass(frozen=True)
class Destination:
    """A URL taken apart, without the parts that are never sent."""

    scheme: str
    host: str
    port: int
    target: str

    @classmethod
    def read(cls, url: str) -> "Destination":
        """Read a URL or refuse it; the refusal never repeats it."""
        if _UNSAFE.search(url):
            raise Refused("The URL has a space, a backslash or a control character; percent-encode it.")
        try:
            parts = parse_url(url)
        except LocationParseError:
            raise Refused("The URL cannot be read; a host outside ASCII is written in Punycode.") from None
        if parts.scheme not in _PORTS:
            raise Refused("The URL begins neither with https:// nor with http://.")
        if parts.auth is not None:
            raise Refused("The URL has credentials in it; send an authorization header.")
        if not parts.host or parts.port == 0:
            raise Refused("The URL has no host, or a port that does not exist.")
        host = parts.host.strip("[]").rstrip(".").lower()
        return cls(parts.scheme, host, parts.port or _PORTS[parts.scheme], parts.request_uri)

    @property
    def name(self) -> str:
        """The host as a URL writes it: an IPv6 address in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def authority(self) -> str:
        """The host, and the port where it is not the scheme's own."""
        return self.name if self.port == _PORTS[self.scheme] else f"{self.name}:{self.port}"

    @property
    def origin(self) -> str:
        """All of the URL that may be shown: paths and query strings are passwords all too often."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """The whole URL, to read a redirect against."""
        return self.origin + self.target


def resolve(destination: Destination, seconds: float) -> list[str]:
    """Look the host up once and return its addresses, or refuse it when any of them is not public.

    Connect to these and to nothing else: a second look-up may answer otherwise.
    """
    found = [str(answer[4][0]) for answer in _look_up(destination, seconds)]
    addresses = list(dict.fromkeys(found))
    for address in addresses:
        if not _is_open(ip_address(address), destination):
            raise Refused(
                f"{destination.name} is not at a public address; name it in MINUTEHAND_HTTP_ALLOW to deliver there."
            )
    return addresses


def _look_up(destination: Destination, seconds: float) -> list[tuple[Any, ...]]:
    # The resolver knows no time limit, so it is left behind when ours is over.
    threads = ThreadPoolExecutor(1)
    answer = threads.submit(socket.getaddrinfo, destination.host, destination.port, type=socket.SOCK_STREAM)
    threads.shutdown(wait=False)
    try:
        return answer.result(timeout=max(seconds, 0))
    except TimeoutError:
        raise Unresolved(f"The address of {destination.name} was not found within the time limit.") from None
    except UnicodeError:
        raise Refused("The URL's host is not a name that can be looked up.") from None
    except OSError:
        raise Unresolved(f"The address of {destination.name} was not found.") from None


def _is_open(address: IPv4Address | IPv6Address, destination: Destination) -> bool:
    inner = _carried(address)
    return _is_public(inner) or any(_names(entry, inner, destination) for entry in _allowed())


def _carried(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address stands for, if it does."""
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
    entries = os.environ.get("MINUTEHAND_HTTP_ALLOW", "").lower().split(",")
    return [entry.strip() for entry in entries if entry.strip()]


def _names(entry: str, address: IPv4Address | IPv6Address, destination: Destination) -> bool:
    try:
        return address in ip_network(entry, strict=False)
    except ValueError:
        return entry in (destination.name, f"{destination.name}:{destination.port}")
