"""A state machine that applies operations to a queue and to its model, and compares both."""

from typing import Any
from uuid import UUID

import hypothesis.strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    rule,
)
from machine_claims import ClaimRules
from machine_operations import OperationRules, latest, minutes, seconds
from model import Model
from model_job import PERIOD, ModelJob
from proving import Post, pass_time, sql
from proving import settings as queue_settings

from minutehand import Job, KeyTakenError, enqueue
from minutehand.claim import claim, take
from minutehand.finish import finish
from minutehand.model.invitation import parse
from minutehand.model.outcome import Cancelled, Done, Failed, Outcome, Released, Snoozed
from minutehand.queries.jobs import list_jobs
from minutehand.tick import tick

CAPACITY = 3
TTL = 120
LEASE = 300

keys = st.sampled_from([None, None, "a", "b"])
queues = st.sampled_from(["default", "default", "default", "other"])
ERROR = {"type": "Test", "message": "on request"}


def outcome_of(word: str, delay: int) -> Outcome:
    outcomes: dict[str, Outcome] = {
        "done": Done(),
        "failed": Failed(ERROR, seconds(delay)),
        "dead": Failed(ERROR, final=True),
        "cancelled": Cancelled(ERROR),
        "snoozed": Snoozed(seconds(delay)),
        "released": Released(seconds(delay)),
    }
    return outcomes[word]


class Machine(ClaimRules, OperationRules):  # type: ignore[misc]
    """All operations on a queue.

    No rule has a precondition, because what is drawn must not depend on the order in which equal jobs are offered.
    """

    @initialize()
    def empty(self) -> None:
        for table in ("jobs", "superseded", "lanes", "lane_changes", "budgets", "controls"):
            sql(self.db, f"delete from minutehand.{table}")
        sql(
            self.db,
            """update minutehand.dispatcher
                  set swept = '-infinity', ticked = '-infinity', since = '-infinity'""",
        )
        self.model = Model()
        self.post = Post()
        self.claimed: list[Job] = []
        self.ids: list[UUID] = []
        self.number = 0

    @rule(
        queue=queues,
        key=keys,
        mode=st.sampled_from(["replace", "ignore", "raise", "merge"]),
        delay=minutes,
        limit=st.integers(1, 3),
        priority=st.sampled_from([1, 5, 9]),
        unique_while_running=st.booleans(),
        recurs=st.booleans(),
    )
    def enqueues(
        self,
        queue: str,
        key: str | None,
        mode: Any,
        delay: int,
        limit: int,
        priority: int,
        unique_while_running: bool,
        recurs: bool,
    ) -> None:
        self.number += 1
        first = self.model.now + delay
        job_model = ModelJob(
            queue, key, priority, limit, first, recurs=recurs, nominal=first, number=self.number
        )
        outcome = self.model.enqueue(queue, key, mode, job_model, unique_while_running)
        options: dict[str, Any] = {"queue": queue, "key": key, "delay": seconds(delay), "max_attempts": limit}
        if unique_while_running and key:
            options["unique_while"] = "running"
        if recurs:
            options["every"] = f"PT{PERIOD}S"
        payload = {"n": self.number}
        try:
            enqueued = enqueue(
                "echo", payload, on_conflict=mode, priority=priority, connection=self.db, **options
            )
        except KeyTakenError:
            assert outcome == "raised"
            return
        assert enqueued.outcome == outcome
        if outcome == "created":
            self.model.add(enqueued.id, job_model)
            self.ids.append(enqueued.id)
        else:
            upcoming = self.model.upcoming(queue, key)
            assert enqueued.id in ({upcoming} if upcoming else self.model.running(queue, key))

    @rule()
    def ticks(self) -> None:
        self.model.cancel_lapsed()
        reaped, budgets = self.model.reap(), self.model.budget(CAPACITY)
        room = self.model.room_of_all(max(0, CAPACITY - self.model.busy()))
        due = self.model.due()
        made = tick(self.db, self.post, queue_settings(CAPACITY))
        assert {record["id"] for record in made.maintenance.reaped} == reaped
        for record in made.maintenance.reaped:
            self.follows(record["id"], record["next"])
        assert sum(made.due.values()) == len(due)
        assert {each.queue: each.budget for each in made.offered.budgets} == budgets
        offerable = [
            min(
                len(self.model.due(queue)),
                self.model.room(queue, max(0, budgets.get(queue, CAPACITY) - self.model.busy(queue))),
            )
            for queue in ("default", "other")
        ]
        assert len(made.offered.offers) == min(room, sum(offerable))
        for offer in made.offered.offers:
            assert all(
                self.before(offer.id, other) for other in set(due) - {one.id for one in made.offered.offers}
            )
            self.model.offer(offer.id, offer.ack, TTL)

    def before(self, offered: UUID, other: UUID) -> bool:
        """Whether one job may be offered before another: in a queue, the higher priority first."""
        one, two = self.model.jobs[offered], self.model.jobs[other]
        return one.queue != two.queue or one.priority >= two.priority

    @rule(place=latest, once=st.booleans())
    def delivers(self, place: int, once: bool) -> None:
        if not self.post.events:
            return
        event = self.post.events[max(place, -len(self.post.events))]
        if once:
            self.post.events.remove(event)
        (offer,) = parse(event).offers
        valid = self.model.claims(offer.id, offer.ack)
        jobs = claim(self.db, [offer], seconds(LEASE), seconds(0))
        assert [job.id for job in jobs] == ([offer.id] if valid else [])
        self.owns(jobs)

    @rule(queue=queues)
    def takes(self, queue: str) -> None:
        due = self.model.due(queue)
        jobs = take(self.db, queue, 1, seconds(LEASE), seconds(0))
        assert len(jobs) == min(self.model.room(queue, 1), len(due))
        if jobs:
            assert due[jobs[0].id].priority == max(job.priority for job in due.values())
        self.owns(jobs)

    def owns(self, jobs: list[Job]) -> None:
        for job in jobs:
            self.model.claim(job.id, job.ack, LEASE)
            assert job.attempt == self.model.jobs[job.id].attempts
            assert job.payload == {"n": self.model.jobs[job.id].number}
        self.claimed += jobs

    @rule(
        place=latest,
        delay=minutes,
        again=st.booleans(),
        word=st.sampled_from(["done", "done", "failed", "dead", "cancelled", "snoozed", "released"]),
    )
    def finishes(self, place: int, word: str, delay: int, again: bool) -> None:
        if not self.claimed:
            return
        job = self.claimed[max(place, -len(self.claimed))]
        if not again:
            self.claimed.remove(job)
        ending = self.model.finish(job.id, job.ack, word, delay)
        finished = finish(job, outcome_of(word, delay))
        assert finished.ending == ending
        if ending in ("done", "dead"):
            self.follows(job.id, finished.next)

    def follows(self, job_id: UUID, next_id: UUID | None) -> None:
        self.model.follow(job_id, next_id)
        self.ids += [next_id] if next_id else []

    @rule(by=st.sampled_from([60, 120, 300, 900]))
    def time_passes(self, by: int) -> None:
        self.model.now += by
        pass_time(self.db, seconds(by))
        for job in self.claimed:
            # The worker computes the next occurrence from it.
            job.nominal = job.nominal and job.nominal - seconds(by)

    @rule()
    def everything_lapses_and_is_offered_again(self) -> None:
        self.time_passes(max(LEASE, TTL))
        self.ticks()

    @invariant()
    def both_say_the_same(self) -> None:
        rows = list_jobs(self.db, limit=1000).rows
        assert {row.id: (row.state, row.attempts) for row in rows} == self.model.states()

    @invariant()
    def a_key_has_one_job_that_may_return_or_recur(self) -> None:
        keys = [(job.queue, job.key) for job in self.model.jobs.values() if job.key and job.current]
        assert len(keys) == len(set(keys))

    @invariant()
    def an_attempt_is_completed_at_most_once(self) -> None:
        assert len(self.model.accepted) == len(set(self.model.accepted))
