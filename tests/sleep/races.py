"""The random races of the simulation: what users do, at the same time as ticks and workers, and what is lost."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg

from minutehand import NewJob, enqueue, enqueue_many
from minutehand.errors import MinutehandError
from minutehand.operations import controls, jobs
from minutehand.schedules import manage
from minutehand.schedules.schedule import Schedule

if TYPE_CHECKING:
    from tests.sleep.month import Month


def race(month: "Month") -> None:
    """Do one of the races."""
    (chosen,) = month.random.choices(list(RACES), weights=list(RACES.values()))
    month.happened[chosen.__name__] += 1
    month.log.append((month.now, chosen.__name__))
    chosen(month)


def _job(month: "Month", **more: Any) -> dict[str, Any]:
    plan = month.random.choice(([], [], [], ["fail"], ["fail", "fail"], ["snooze"], ["enqueue"]))
    queue = month.random.choice(("default", "default", "mail"))
    when: dict[str, Any] = {"delay": month.delay()}
    if month.random.random() < 0.2:
        # People like full minutes.
        when = {"run_at": (month.now + month.delay()).replace(second=0, microsecond=0)}
    return {"kind": "task", "payload": plan, "queue": queue, **when, **more}


def enqueued(month: "Month") -> None:
    month.note(enqueue(**_job(month), connection=month.user))


def enqueued_in_bulk(month: "Month") -> None:
    new = [NewJob(**_job(month)) for _ in range(5)]
    month.note(*enqueue_many(new, connection=month.user))


def committed_late(month: "Month") -> None:
    """A transaction that stays open while wake-ups fire; one in ten rolls back."""
    connection = psycopg.connect(month.url)
    result: Any = enqueue(**_job(month), connection=connection)
    month.ledger.plan(result.visible, month.now)
    month.writers += 1

    def end() -> None:
        month.writers -= 1
        month.log.append((month.now, "end of transaction", result))
        if month.random.random() < 0.1:
            connection.rollback()
        else:
            connection.commit()
            month.note(result)
        connection.close()

    month.soon(0, 200, end)


def crashed_before_commit(month: "Month") -> None:
    connection = psycopg.connect(month.url)
    result: Any = enqueue(**_job(month), connection=connection)
    month.ledger.plan(result.visible, month.now)
    # Without a rollback: the server notices that the client is gone.
    connection.close()


def cancelled(month: "Month") -> None:
    jobs.cancel(month.user, _some(month))


def rescheduled(month: "Month") -> None:
    ids, delay = _some(month), month.delay()
    changes = jobs.reschedule(month.user, ids, delay=delay)
    _changed(month, changes, month.now + delay)


def promoted(month: "Month") -> None:
    _changed(month, jobs.promote(month.user, _some(month)), month.now)


def retried(month: "Month") -> None:
    _changed(month, jobs.retry(month.user, _some(month)), month.now)


def replayed(month: "Month") -> None:
    for change in jobs.replay(month.user, _some(month)):
        if change.new is not None:
            month.known.append(change.new)
            month.ledger.committed[change.new] = month.now
            month.ledger.plan(month.now, month.now)


def scheduled(month: "Month") -> None:
    """A schedule is saved, changed, run, paused or resumed."""
    name = month.random.choice(("report", "digest"))
    every = month.random.choice(("30 8 * * *", "0 */7 * * *", "15 3 * * mon"))
    act = month.random.choice(("save", "run", "pause", "resume"))
    try:
        if act == "save":
            stored = manage.save(month.user, Schedule(name, every, NewJob("task")))
        elif act == "run":
            manage.run_now(month.user, name)
            month.ledger.plan(month.now, month.now)
            return
        else:
            stored = getattr(manage, act)(month.user, name)
    except MinutehandError:
        return
    if stored.next:
        month.ledger.plan(stored.next, month.now)


def paused(month: "Month") -> None:
    """A queue is paused for up to two hours, and resumed or left to its time."""
    if month.paused:
        return
    begin, previous = month.now, month.checker.previous
    end = begin + timedelta(seconds=month.random.uniform(30, 7200))
    controls.pause(month.user, queue="mail", until=end)
    month.paused.add("mail")
    month.ledger.plan(end, begin)
    resumes = month.random.random() < 0.5

    def resume() -> None:
        if resumes:
            controls.resume(month.user, queue="mail")
        month.paused.discard("mail")
        month.ledger.pauses.append(("mail", begin, month.now, previous))
        month.log.append((month.now, "resumed"))
        month.ledger.plan(month.now, month.now)

    month.at(begin + (end - begin) * month.random.random() if resumes else end, resume)


def wakeup_lost(month: "Month") -> None:
    """AWS loses a wake-up."""
    if wakeups := sorted(month.event_bridge.wakeups.items()):
        name, minute = month.random.choice(wakeups)
        month.ledger.lost.append(minute)
        month.event_bridge.delete(name)


def _some(month: "Month") -> list[Any]:
    return [month.random.choice(month.known[-200:])] if month.known else []


def _changed(month: "Month", changes: Any, time: datetime) -> None:
    for change in changes:
        if change.outcome == "changed":
            month.ledger.committed[change.id] = month.now
            month.ledger.plan(time, month.now)


RACES = {
    enqueued: 40,
    enqueued_in_bulk: 2,
    committed_late: 12,
    crashed_before_commit: 10,
    cancelled: 10,
    rescheduled: 10,
    promoted: 4,
    retried: 4,
    replayed: 3,
    scheduled: 1,
    paused: 2,
    wakeup_lost: 2,
}
