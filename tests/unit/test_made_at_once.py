"""Objects that are made without the constructor of their dataclass, because bulks and workers make very many."""

import copy
import pickle
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from minutehand import NewJob
from minutehand.model.alike import Part
from minutehand.model.enqueued import Enqueued
from minutehand.model.outcome import Finish

Result = Enqueued[Any] | Finish

ID, NOW = uuid4(), datetime(2030, 1, 1, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("made", "constructed"),
    [
        (Enqueued.of_created(ID, NOW, 5), Enqueued(ID, "created", NOW, 5)),
        (Finish.of_done(NOW, True, ID), Finish("done", at=NOW, awaited=True, batch=ID)),
    ],
)
def test_object_made_at_once_equals_a_constructed_one(made: Result, constructed: Result) -> None:
    for each in (made, copy.copy(made), pickle.loads(pickle.dumps(made))):
        assert (each, repr(each)) == (constructed, repr(constructed))
        assert asdict(each) == asdict(constructed)


def test_new_job_refuses_too_few_and_too_many_arguments() -> None:
    with pytest.raises(TypeError, match="kind"):
        NewJob()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="kind"):
        NewJob(payload=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional"):
        NewJob(*["echo"] * 100)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="kind"):
        NewJob("echo", kind="echo")  # type: ignore[misc]
    with pytest.raises(TypeError, match="color"):
        NewJob("echo", color="red")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2030, 1, 1, tzinfo=BERLIN),
        # In the last microseconds before the clock is set, and in the hour that occurs twice.
        datetime(2030, 3, 31, 1, 59, 59, 999_999, tzinfo=BERLIN),
        datetime(2030, 10, 27, 2, 59, 59, 999_999, tzinfo=BERLIN),
        datetime(2030, 10, 27, 2, 30, fold=1, tzinfo=BERLIN),
        datetime(2030, 10, 27, 2, 59, 59, 999_999, fold=1, tzinfo=BERLIN),
    ],
)
def test_jobs_of_a_bulk_are_visible_in_the_zone_of_the_moment(moment: datetime) -> None:
    visible = list(Part("{}", [0, 1, 2], ["1"] * 3).visible(moment))

    first = moment.astimezone(UTC)
    assert [each.isoformat() for each in visible] == [
        (first + timedelta(microseconds=place)).astimezone(BERLIN).isoformat() for place in range(3)
    ]
