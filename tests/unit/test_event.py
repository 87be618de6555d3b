"""An event's id, which is made when it is read for the first time."""

import pickle
from dataclasses import replace

import pytest

from minutehand.model.event import Event


def test_event_keeps_the_id_that_was_read_first() -> None:
    event = Event(name="done")

    assert event.id == event.id
    assert event.id != Event(name="done").id


def test_copies_of_an_event_have_its_id() -> None:
    event = Event(name="done")
    copies = [pickle.loads(pickle.dumps(event)), replace(event, tenant="acme")]

    assert [each.id for each in copies] == [event.id, event.id]


def test_event_refuses_unknown_and_missing_fields() -> None:
    with pytest.raises(TypeError, match="colour"):
        Event(name="done", colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="name"):
        Event()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional"):
        Event("done")  # type: ignore[misc]
    with pytest.raises(AttributeError, match="colour"):
        Event(name="done").colour  # type: ignore[attr-defined]  # noqa: B018
