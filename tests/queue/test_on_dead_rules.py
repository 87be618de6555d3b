"""A job of `on_dead` must be a job that can be created when another one dies."""

from datetime import UTC, datetime, timedelta

import pytest

from minutehand import InvalidJobError, NewJob
from minutehand.model.new_job import parameters
from tests.queue.stage import LONG, Queue

pytestmark = pytest.mark.every_server

NOON = datetime(2041, 1, 7, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "on_dead",
    [
        NewJob("alert", [1]),
        NewJob("not a kind"),
        NewJob("alert", queue="?"),
        NewJob("alert", priority=10),
        NewJob("alert", max_attempts=0),
        NewJob("alert", timeout=timedelta()),
        NewJob("alert", timeout=timedelta(days=2)),
        NewJob("alert", expires=timedelta()),
        NewJob("alert", {"a": "x" * 9000}),
        NewJob("alert", {"a": "\0"}),
        NewJob("a", on_dead=NewJob("b", on_dead=NewJob("c", on_dead="d"))),
        NewJob("alert", key="k"),
        NewJob("alert", delay=LONG),
        7,
    ],
)
def test_invalid_job_of_on_dead_is_rejected(queue: Queue, on_dead: object) -> None:
    with pytest.raises(InvalidJobError, match="on_dead") as caught:
        queue.enqueue(on_dead=on_dead)

    assert caught.value.rule == "on_dead_is_a_job"


@pytest.mark.parametrize(
    "on_dead", ['"alert"', "[]", "{}", '{"kind": "a", "x": 1}', '{"kind": "a", "priority": "p"}']
)
def test_invalid_json_of_on_dead_is_rejected_in_sql(queue: Queue, on_dead: str) -> None:
    with pytest.raises(InvalidJobError, match="on_dead must be a kind"):
        queue.database.run(
            "enqueue",
            **parameters(NewJob("echo", on_conflict="replace"), lambda: NOON) | {"on_dead": on_dead},
        )
