"""Send a request: resolve its host, connect, and follow redirects if they are allowed."""

from urllib.parse import urljoin

from minutehand.settings.table import HTTP_REDIRECTS
from minutehand.web.delivery.addresses import Destination, RefusedDelivery, UnresolvedHost, resolve
from minutehand.web.delivery.exchange import (
    Deadline,
    DeliveryRequest,
    DeliveryResponse,
    Undelivered,
    exchange,
)

_MAX_REDIRECTS = 3
_REPEATED_STATUSES = (301, 302, 307, 308)
_HEADERS_FOR_OTHER_HOSTS = {"content-type", "accept", "accept-encoding", "user-agent"}


def send(request: DeliveryRequest, deadline: Deadline) -> DeliveryResponse:
    """Return the response; that of the last redirect if redirects are allowed."""
    response = _send_once(request, deadline)
    for _ in range(_MAX_REDIRECTS if HTTP_REDIRECTS.read() else 0):
        if response.status not in _REPEATED_STATUSES or "location" not in response.headers:
            break
        response = _follow(response, deadline)
    return response


def _send_once(request: DeliveryRequest, deadline: Deadline) -> DeliveryResponse:
    try:
        addresses = resolve(request.destination, deadline.left)
    except UnresolvedHost as error:
        raise Undelivered(f"{request} failed: {error}") from None
    return exchange(request, addresses, deadline)


def _follow(response: DeliveryResponse, deadline: Deadline) -> DeliveryResponse:
    try:
        return _send_once(_redirect(response), deadline)
    except RefusedDelivery as refusal:
        # The receiver may correct its redirect, so the job is retried.
        raise Undelivered(f"{response}, a redirect that is refused. {refusal}") from None


def _redirect(response: DeliveryResponse) -> DeliveryRequest:
    old = response.request
    new = location(response)
    if old.destination.scheme == "https" and new.scheme == "http":
        raise RefusedDelivery("It leads from https to http.")
    # Credentials and signatures are for the host that the job names, not for another one.
    headers = old.headers
    if new.authority != old.destination.authority:
        headers = {name: value for name, value in headers.items() if name in _HEADERS_FOR_OTHER_HOSTS}
    return DeliveryRequest(old.method, new, headers, old.body)


def location(response: DeliveryResponse) -> Destination:
    """Return where a redirect leads; raise RefusedDelivery if that is not a valid URL."""
    try:
        url = urljoin(response.request.destination.url, response.headers.get("location", ""))
    except ValueError:
        raise RefusedDelivery("Its location is not a valid URL.") from None
    return Destination.parse(url)
