"""A resident worker serves all queues or a selection, by weights or in strict order."""

from threading import Event as Flag
from typing import Any

import pytest

from minutehand import InvalidJobError, NewJob, enqueue_many
from minutehand.handlers import HandlerTable
from minutehand.work import work
from tests.queue.stage import Queue

JOBS = 40


class Server:
    """A resident worker that stops after a number of jobs, and the queue of each job that it ran."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self.order: list[str] = []

    def serve(self, jobs: int | None = None, **options: Any) -> list[str]:
        stop = Flag()

        def handle(_payload: Any, job: Any) -> None:
            self.order.append(job.queue)
            if len(self.order) == jobs:
                stop.set()

        work(self._queue.database, HandlerTable({"echo": handle}), stop, drain=True, **options)
        return self.order


@pytest.fixture
def server(direct_queue: Queue) -> Server:
    return Server(direct_queue)


def fill(queue: Queue, *names: str) -> None:
    jobs = [NewJob("echo", None, queue=name) for name in names for _ in range(JOBS)]
    assert len([*enqueue_many(jobs, connection=queue.database)]) == len(jobs)


def test_all_queues_are_served_in_turns(direct_queue: Queue, server: Server) -> None:
    fill(direct_queue, "mail", "reports", "default")

    order = server.serve(chunk=1)
    assert len(order) == 3 * JOBS
    assert all(len({*order[start : start + 3]}) == 3 for start in range(0, len(order), 3))


def test_queue_that_appears_later_is_served(direct_queue: Queue) -> None:
    seen: list[str] = []

    def handle(_payload: Any, job: Any) -> None:
        seen.append(job.queue)
        if job.queue == "default":
            direct_queue.enqueue(queue="new")

    direct_queue.enqueue()
    work(direct_queue.database, HandlerTable({"echo": handle}), Flag(), drain=True)

    assert seen == ["default", "new"]


@pytest.mark.parametrize("chunk", [1, 4])
def test_jobs_are_served_in_proportion_to_weights(direct_queue: Queue, server: Server, chunk: int) -> None:
    fill(direct_queue, "mail", "reports", "other")
    order = server.serve(32, queues={"mail": 3, "reports": 1}, chunk=chunk)

    assert {name: order.count(name) for name in {*order}} == {"mail": 24, "reports": 8}


def test_strict_order_finishes_a_queue_before_the_next(direct_queue: Queue, server: Server) -> None:
    fill(direct_queue, "mail", "urgent", "other")

    order = server.serve(queues=["urgent", "mail"], strict=True, chunk=3)
    assert order == ["urgent"] * JOBS + ["mail"] * JOBS


def test_turn_passes_to_the_next_queue_if_jobs_cannot_be_taken(direct_queue: Queue, server: Server) -> None:
    fill(direct_queue, "mail")
    fill(direct_queue, "reports")
    other = direct_queue.another()
    with other.transaction() as connection:
        connection.execute("select from minutehand.jobs_live where queue = 'mail' for update")
        order = server.serve()

    assert order == ["reports"] * JOBS


def test_invalid_queue_stops_the_worker_at_its_start(server: Server) -> None:
    with pytest.raises(InvalidJobError, match="got 'mail,reports'"):
        server.serve(queues="mail,reports")
