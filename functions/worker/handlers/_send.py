"""Send a request: look its host up, connect, and go on where a redirect leads if that is allowed."""

import os
from urllib.parse import urljoin

from ._addresses import Destination, Refused, Unresolved, resolve
from ._exchange import Answer, Deadline, Request, Undelivered, exchange

_HOPS = 3
_REPEATED = (301, 302, 307, 308)
_FOR_ANYONE = {"content-type", "accept", "accept-encoding", "user-agent"}


def send(request: Request, deadline: Deadline) -> Answer:
    """Return the answer to the request; the first one, unless redirects are allowed."""
    answer = _send_once(request, deadline)
    for _ in range(_HOPS if os.environ.get("MINUTEHAND_HTTP_REDIRECTS") == "1" else 0):
        if answer.status not in _REPEATED or "location" not in answer.headers:
            break
        answer = _follow(answer, deadline)
    return answer


def _send_once(request: Request, deadline: Deadline) -> Answer:
    try:
        addresses = resolve(request.destination, deadline.left)
    except Unresolved as fault:
        raise Undelivered(f"{request} failed: {fault}") from None
    return exchange(request, addresses, deadline)


def _follow(answer: Answer, deadline: Deadline) -> Answer:
    try:
        return _send_once(_redirect(answer), deadline)
    except Refused as refusal:
        # A receiver's mistake, which may be mended: no reason to give the job up.
        raise Undelivered(f"{answer}, a redirect that is refused. {refusal}") from None


def _redirect(answer: Answer) -> Request:
    old = answer.request
    new = location(answer)
    if old.destination.scheme == "https" and new.scheme == "http":
        raise Refused("It leads from https to http.")
    # What proves who we are is for the receiver that the job names, and for nobody it points to.
    headers = old.headers
    if new.authority != old.destination.authority:
        headers = {name: value for name, value in headers.items() if name in _FOR_ANYONE}
    return Request(old.method, new, headers, old.body)


def location(answer: Answer) -> Destination:
    """Return where a redirect leads, or refuse it."""
    try:
        url = urljoin(answer.request.destination.url, answer.headers.get("location", ""))
    except ValueError:
        raise Refused("Its location cannot be read.") from None
    return Destination.read(url)
