"""Forwarding: above 2,000 invitations, a tick hands them over to further invocations of the dispatcher.

One process sends some hundred invitations a second. Each forwarded event has up to 500, which its invocation sends.
A lost event costs the lifetime of its offers. A repeated one invites workers that find nothing to claim.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from minutehand.fan_out import FanOut, Invitation, Invoker, fan_out
from minutehand.model.invitation import EventError, parse

MOST_DIRECT = 2000
MOST_INVITATIONS = 500
# About 90 bytes each in the event, of which Lambda accepts 256 KB.
MOST_OFFERS = 2000


@dataclass(frozen=True)
class Forward:
    """Invitations that another invocation of the dispatcher, the `worker` of this event, sends."""

    worker: str
    invitations: tuple[Invitation, ...]

    @property
    def offers(self) -> tuple[Any, ...]:
        """The offers of all invitations."""
        return tuple(offer for invitation in self.invitations for offer in invitation.offers)

    @property
    def event(self) -> dict[str, Any]:
        """The dispatcher's event: `{"invitations": [{"worker": ..., "queue": ..., "offers": [...]}, ...]}`."""
        return {"invitations": [{"worker": each.worker, **each.event} for each in self.invitations]}


def invite(invoker: Invoker, planned: Sequence[Invitation], until: float, dispatcher: str = "") -> FanOut:
    """Invoke the workers of a tick, or if they are too many and the dispatcher's name is known, forward that."""
    if not dispatcher or len(planned) <= MOST_DIRECT:
        return fan_out(invoker, planned, until)
    forwards = [Forward(dispatcher, tuple(part)) for part in _parts(planned)]
    refused = fan_out(invoker, forwards, until).refused
    lost = {id(refusal.invitation) for refusal in refused}
    return FanOut(0, refused, sum(len(each.invitations) for each in forwards if id(each) not in lost))


def forward(invoker: Invoker, event: dict[str, Any], until: float) -> FanOut:
    """Send the invitations of a forwarded event; raise EventError if it is malformed."""
    return fan_out(invoker, _invitations(event["invitations"]), until)


def _parts(planned: Sequence[Invitation]) -> Iterator[list[Invitation]]:
    part: list[Invitation] = []
    offers = 0
    for invitation in planned:
        offers += len(invitation.offers)
        if part and (len(part) == MOST_INVITATIONS or offers > MOST_OFFERS):
            yield part
            part, offers = [], len(invitation.offers)
        part.append(invitation)
    yield part


def _invitations(events: Any) -> list[Invitation]:
    if not isinstance(events, list):
        raise EventError(f"invitations must be a list, got {type(events).__name__}")
    return [_invitation(event) for event in events]


def _invitation(event: Any) -> Invitation:
    if not isinstance(event, dict) or not isinstance(worker := event.get("worker"), str):
        raise EventError("each of invitations must be an object with worker, queue and offers")
    invited = parse(event)
    return Invitation(worker, invited.queue, invited.offers, invited.kinds)
