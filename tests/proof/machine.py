"""A state machine that applies operations to a queue and to its model, and compares both."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import hypothesis.strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)
from model import Model, ModelJob
from proving import Post, pass_time, sql
from proving import settings as queue_settings

from minutehand import Cancel, Database, Job, KeyTakenError, LostError, enqueue
from minutehand.claim import claim, take
from minutehand.finish import finish
from minutehand.model.outcome import Cancelled, Done, Failed, Outcome, Released, Snoozed
from minutehand.operations.change import Change
from minutehand.operations.controls import limit, pause, resume, unlimit
from minutehand.operations.deletion import delete, delete_finished
from minutehand.operations.edit import edit
from minutehand.operations.jobs import cancel, promote, replay, reschedule, retry
from minutehand.queries.jobs import list_jobs
from minutehand.tick import tick
from minutehand.work import parse

CAPACITY = 3
TTL = 120
LEASE = 300

keys = st.sampled_from([None, None, "a", "b"])
queues = st.sampled_from(["default", "default", "default", "other"])
minutes = st.sampled_from([0, 0, 0, 60, 300])
latest = st.sampled_from([-1, -1, -1, -2, -2, -3, -4])
VERBS = ["cancel", "cancel_running", "promote", "reschedule", "retry", "edit", "delete", "replay"]
ERROR = {"type": "Test", "message": "on request"}


def seconds(number: int) -> timedelta:
    return timedelta(seconds=number)


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


class Machine(RuleBasedStateMachine):
    """All operations on a queue.

    No rule has a precondition, because what is drawn must not depend on the order in which equal jobs are offered.
    """

    db: Database

    @initialize()
    def empty(self) -> None:
        for table in ("jobs", "lanes", "budgets", "controls"):
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

    @rule(
        queue=queues,
        key=keys,
        mode=st.sampled_from(["replace", "ignore", "raise", "merge"]),
        delay=minutes,
        limit=st.integers(1, 3),
        priority=st.sampled_from([1, 5, 9]),
        unique_while_running=st.booleans(),
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
    ) -> None:
        job_model = ModelJob(queue, key, priority, limit, self.model.now + delay)
        outcome = self.model.enqueue(queue, key, mode, job_model, unique_while_running)
        options: dict[str, Any] = {"queue": queue, "key": key, "delay": seconds(delay), "max_attempts": limit}
        if unique_while_running and key:
            options["unique_while"] = "running"
        try:
            enqueued = enqueue("echo", on_conflict=mode, priority=priority, connection=self.db, **options)
        except KeyTakenError:
            assert outcome == "raised"
            return
        assert enqueued.outcome == outcome
        if outcome == "created":
            self.model.jobs[enqueued.id] = job_model
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
        (offer,) = parse(event)[0]
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
        assert finish(job, outcome_of(word, delay)).ending == ending

    @rule(place=latest)
    def crashes(self, place: int) -> None:
        if self.claimed:
            self.claimed.pop(max(place, -len(self.claimed)))

    @rule(place=latest, by=st.sampled_from([60, 600]))
    def extends(self, place: int, by: int) -> None:
        if not self.claimed:
            return
        job = self.claimed[max(place, -len(self.claimed))]
        extended = self.model.extend(job.id, job.ack, by)
        try:
            job.extend(seconds(by))
        except LostError:
            assert not extended
        except Cancel:
            assert extended and self.model.jobs[job.id].cancelling
        else:
            assert extended and not self.model.jobs[job.id].cancelling

    @rule(place=latest)
    def checks(self, place: int) -> None:
        if not self.claimed:
            return
        job = self.claimed[max(place, -len(self.claimed))]
        job_model = self.model.jobs.get(job.id)
        holds = job_model is not None and job_model.ended is None and job_model.claim == job.ack
        try:
            job.check()
        except LostError:
            assert not holds
        except Cancel:
            assert holds and job_model is not None and job_model.cancelling
        else:
            assert holds and job_model is not None and not job_model.cancelling

    @rule(by=st.sampled_from([60, 120, 300, 900]))
    def time_passes(self, by: int) -> None:
        self.model.now += by
        pass_time(self.db, seconds(by))

    @rule()
    def everything_lapses_and_is_offered_again(self) -> None:
        self.time_passes(max(LEASE, TTL))
        self.ticks()

    @rule(place=latest, verb=st.sampled_from(VERBS), delay=minutes, priority=st.sampled_from([1, 5, 9]))
    def operates(self, place: int, verb: str, delay: int, priority: int) -> None:
        if not self.ids:
            return
        job_id = self.ids[max(place, -len(self.ids))]
        (change,) = self.operate(verb, job_id, delay, priority)
        before = self.model.jobs.get(job_id)
        visible = {"reschedule": self.model.now + delay, "edit": priority}.get(verb, self.model.now)
        assert change.outcome == self.model.change(verb, job_id, visible)
        if change.new is not None and before is not None:
            self.model.jobs[change.new] = ModelJob(
                before.queue, before.key, before.priority, 1, self.model.now
            )
            self.ids.append(change.new)

    def operate(self, verb: str, job_id: UUID, delay: int, priority: int) -> list[Change]:
        if verb == "reschedule":
            return reschedule(self.db, [job_id], datetime.now(UTC) + seconds(delay))
        if verb == "edit":
            return edit(self.db, [job_id], priority=priority)
        if verb == "cancel_running":
            return cancel(self.db, [job_id], running=True)
        acts = {"cancel": cancel, "promote": promote, "retry": retry, "delete": delete, "replay": replay}
        return acts[verb](self.db, [job_id])  # type: ignore[operator, no-any-return]

    @rule(queue=st.sampled_from(["default", "other", ""]), on=st.booleans())
    def pauses(self, queue: str, on: bool) -> None:
        named = {"queue": queue} if queue else {"kind": "echo"}
        if on:
            pause(self.db, **named)  # type: ignore[arg-type]
            self.model.pause(queue)
        else:
            assert resume(self.db, **named) == (queue in self.model.paused)
            self.model.paused.discard(queue)

    @rule(queue=st.sampled_from(["default", "other", ""]), maximum=st.sampled_from([None, None, 0, 1, 2]))
    def limits(self, queue: str, maximum: int | None) -> None:
        named = {"queue": queue} if queue else {"kind": "echo"}
        if maximum is None:
            assert unlimit(self.db, **named) == (queue in self.model.limits)
            self.model.limits.pop(queue, None)
        else:
            limit(self.db, maximum, **named)
            self.model.limits[queue] = maximum

    @rule(older=st.sampled_from([60, 600]))
    def purges(self, older: int) -> None:
        before = datetime.now(UTC) - seconds(older) + seconds(30)
        assert sum(delete_finished(self.db, before)) == self.model.purge(older)

    @invariant()
    def both_say_the_same(self) -> None:
        rows = list_jobs(self.db, limit=1000).rows
        assert {row.id: (row.state, row.attempts) for row in rows} == self.model.states()

    @invariant()
    def an_attempt_is_completed_at_most_once(self) -> None:
        assert len(self.model.accepted) == len(set(self.model.accepted))
