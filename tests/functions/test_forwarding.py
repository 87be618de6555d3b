"""Above 2,000 invitations, the dispatcher hands them over to further invocations of itself."""

import json
from typing import Any

import pytest

from minutehand.model.invitation import EventError
from tests.functions.fleet import WORKER, Fleet

DISPATCHER = "minutehand-dispatcher"
JOBS = 2001
FILL = """insert into minutehand.jobs (kind, run_at, visible)
          select 'echo', now(), now() from generate_series(1, %(jobs)s)"""
# What Lambda accepts for an asynchronous event.
MOST_BYTES = 256 * 1024


@pytest.fixture
def large(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """A fleet with a large capacity, and one due job more than a tick invites workers for."""
    monkeypatch.setenv("MINUTEHAND_CAPACITY", "10000")
    fleet.aws.known.add(DISPATCHER)
    fleet.sql(FILL, jobs=JOBS)
    return fleet


def events(fleet: Fleet) -> list[dict[str, Any]]:
    """Return the events since the last call."""
    found, fleet.aws.events = fleet.aws.events, []
    return found


def smallest(forwarded: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the event with one invitation; events are sent in parallel, in any order."""
    return min(forwarded, key=lambda event: len(event["invitations"]))


def test_invitations_are_forwarded_in_bounded_events(large: Fleet) -> None:
    answer = large.tick()
    forwarded = events(large)

    assert (answer["offered"], answer["invoked"], answer["forwarded"]) == (JOBS, 0, JOBS)
    assert large.aws.invoked == [DISPATCHER] * 5
    assert max(len(json.dumps(event)) for event in forwarded) < MOST_BYTES
    large.aws.invoked.clear()
    answers = [large.tick(event) for event in forwarded]
    assert sorted(answer["invoked"] for answer in answers) == [1, 500, 500, 500, 500]
    assert large.aws.invoked == [WORKER] * JOBS
    offers = [event["offers"] for event in events(large)]
    assert {len(each) for each in offers} == {1}
    assert len({offer[0][0] for offer in offers}) == JOBS


def test_repeated_forward_runs_each_job_once(large: Fleet) -> None:
    large.tick()
    last = smallest(events(large))
    for _ in range(2):
        large.tick(last)
    first, second = events(large)

    assert large.work(first)["done"] >= 1
    assert large.sql("select max(attempts) as most from minutehand.jobs") == [{"most": 1}]
    assert large.work({"offers": second["offers"]}) == {}


def test_jobs_of_a_refused_forward_are_due_again(large: Fleet) -> None:
    large.aws.known.remove(DISPATCHER)

    answer = large.tick()

    assert (answer["refused"], answer["forwarded"]) == (5, 0)
    assert large.sql("select count(*) as jobs from minutehand.jobs_live where offered is null") == [
        {"jobs": JOBS}
    ]


def test_jobs_of_a_refused_invitation_in_a_forward_are_due_again(large: Fleet) -> None:
    large.tick()
    last = smallest(events(large))
    large.aws.known.remove(WORKER)

    assert large.tick(last) == {"invoked": 0, "refused": 1}
    assert large.sql("select count(*) as jobs from minutehand.jobs_live where offered is null") == [
        {"jobs": 1}
    ]


@pytest.mark.parametrize(
    "invitations",
    [None, 5, ["worker"], [{"queue": "default"}], [{"worker": 5, "offers": []}], [{"worker": "w"}]],
)
def test_malformed_forward_is_rejected(fleet: Fleet, invitations: Any) -> None:
    with pytest.raises(EventError):
        fleet.tick({"invitations": invitations})
