"""Operations on jobs and queues, as rules of a state machine."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import hypothesis.strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    rule,
)
from model import Model
from model_job import ModelJob

from minutehand import Database
from minutehand.operations.change import Change
from minutehand.operations.controls import limit, pause, resume, unlimit
from minutehand.operations.deletion import delete, delete_finished
from minutehand.operations.edit import edit
from minutehand.operations.jobs import cancel, promote, replay, reschedule, retry

minutes = st.sampled_from([0, 0, 0, 60, 300])
latest = st.sampled_from([-1, -1, -1, -2, -2, -3, -4])
VERBS = ["cancel", "cancel_running", "promote", "reschedule", "retry", "edit", "delete", "replay"]


def seconds(number: int) -> timedelta:
    return timedelta(seconds=number)


class OperationRules(RuleBasedStateMachine):
    """The operations of an operator, applied to the queue and to the model."""

    db: Database
    model: Model
    ids: list[UUID]

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
            copy = ModelJob(
                before.queue, before.key, before.priority, 1, self.model.now, number=before.number
            )
            self.model.add(change.new, copy)
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
        named: dict[str, Any] = {"queue": queue} if queue else {"kind": "echo"}
        if on:
            pause(self.db, **named)  # type: ignore[call-overload]
            self.model.pause(queue)
        else:
            assert resume(self.db, **named) == (queue in self.model.paused)  # type: ignore[call-overload]
            self.model.paused.discard(queue)

    @rule(queue=st.sampled_from(["default", "other", ""]), maximum=st.sampled_from([None, None, 0, 1, 2]))
    def limits(self, queue: str, maximum: int | None) -> None:
        named: dict[str, Any] = {"queue": queue} if queue else {"kind": "echo"}
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
