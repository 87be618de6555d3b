"""Service: send signed requests to a service of AWS, without boto3, which would double a function's cold start."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from random import SystemRandom
from time import sleep
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from urllib3 import PoolManager, ProxyManager, Timeout
from urllib3.exceptions import HTTPError
from urllib3.util import make_headers, parse_url

from minutehand.aws.role import credentials, endpoint
from minutehand.aws.signing import signed_headers
from minutehand.errors import MinutehandError

# The most seconds before the second and third attempt, as in botocore's standard mode.
PAUSES = (1.0, 2.0)
NO_HEADERS: Mapping[str, str] = {}
TEMPORARY = {
    "InternalServiceError",
    "RequestLimitExceeded",
    "ServiceException",
    "ThrottlingException",
    "TooManyRequestsException",
}


class NoAnswerError(MinutehandError):
    """The service does not answer. The message has the kind of error, but no URL."""


class Answer(NamedTuple):
    """The response of a service."""

    status: int
    kind: str
    content: bytes

    @property
    def is_temporary(self) -> bool:
        """Whether another attempt may succeed."""
        return self.status >= 500 or self.status == 429 or self.code in TEMPORARY

    @property
    def code(self) -> str:
        """The name of an error; around it there may be more, as in `com.amazonaws.x#AccessDeniedException:http://x`."""
        found = self.kind or str(_fields(self.content).get("__type") or "")
        return found.rpartition("#")[2].partition(":")[0] or f"status {self.status}"

    @property
    def message(self) -> str:
        """The text of an error."""
        fields = _fields(self.content)
        return str(fields.get("message") or fields.get("Message") or "no message")


class Service:
    """A service in a region: its name as in AWS_ENDPOINT_URL_<NAME>, such as `Lambda`, and in signatures."""

    def __init__(
        self,
        name: str,
        signed_as: str,
        region: str,
        *,
        connections: int = 1,
        seconds: tuple[float, float] = (3.0, 10.0),
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        """Set up a pool of `connections`, which threads share.

        `seconds` are the limits to connect and to answer; `pauses` the longest ones before each further attempt.
        """
        self.url = endpoint(name, region)
        self._signed_as, self._region, self._pauses = signed_as, region, pauses
        self._pool = _pool(self.url, connections, Timeout(connect=seconds[0], read=seconds[1]))

    def send(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] = NO_HEADERS
    ) -> Answer:
        """Send a request; repeat it after an error that may pass. Raise NoAnswerError if there is no answer.

        The path may have a query; both must be quoted.
        """
        for pause in self._pauses:
            with suppress(HTTPError):
                if not (answer := self._send(method, path, body, headers)).is_temporary:
                    return answer
            sleep(SystemRandom().uniform(0, pause))
        try:
            return self._send(method, path, body, headers)
        except HTTPError as error:
            raise NoAnswerError(type(error).__name__) from error

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def _send(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        url = self.url + path
        signed = signed_headers(method, url, headers, body, credentials(), self._signed_as, self._region)
        response = self._pool.request(method, url, body=body, headers=signed | trace(), redirect=False)
        return Answer(response.status, response.headers.get("x-amzn-errortype", ""), response.data)


def trace() -> dict[str, str]:
    """Return the header by which Lambda recognizes functions that invoke each other without end."""
    found = os.environ.get("_X_AMZN_TRACE_ID")
    if not found or "AWS_LAMBDA_FUNCTION_NAME" not in os.environ:
        return {}
    return {"X-Amzn-Trace-Id": quote(found, safe="-=;:+&[]{}\"',")}


def _pool(url: str, connections: int, timeout: Timeout) -> PoolManager:
    settings: dict[str, Any] = {"maxsize": connections, "timeout": timeout, "retries": False}
    if authorities := os.environ.get("AWS_CA_BUNDLE"):
        settings["ca_certs"] = authorities
    proxy = _proxy(url)
    if proxy is None:
        return PoolManager(**settings)
    # urllib3 ignores the user and the password in the URL.
    user = parse_url(proxy).auth
    headers = make_headers(proxy_basic_auth=unquote(user)) if user else None
    return ProxyManager(proxy, proxy_headers=headers, **settings)


def _proxy(url: str) -> str | None:
    """Return the proxy for a URL, if the environment has one."""
    if not any(name.lower().endswith("_proxy") for name in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    proxy = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
    # As in botocore, a proxy may be given without a scheme.
    return f"http://{proxy}" if proxy and "://" not in proxy else proxy


def _fields(content: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(content)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}
