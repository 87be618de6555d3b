"""The jobs, batches, limits and schedules that the changes of `changes.py` are about."""

from datetime import timedelta

from minutehand import Database, NewJob, batch, enqueue, enqueue_many, schedules
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.model.outcome import Failed
from minutehand.operations.controls import limit, pause
from minutehand.queries.jobs import list_jobs
from tests.console.changes import MANY, VERBS
from tests.console.examples import MINUTE, run_one

DAY = timedelta(days=1)
DIED = "update minutehand.jobs set deleted = now(), failed = true, attempts = 8 where queue = any (%s)"


def enqueue_all(db: Database) -> dict[str, str]:
    """Enqueue what the changes are about; return the id of the newest job of each queue."""
    jobs, dead = [NewJob("edited", queue="edited", delay=9 * DAY)], []
    for name, verb in VERBS.items():
        for which, count in (("one", 1), ("selected", 2), ("matching", MANY)):
            jobs += [NewJob("echo", n, queue=f"{name}-{which}", delay=9 * DAY) for n in range(count)]
            dead += [f"{name}-{which}"] * (verb.before == "dead")
    list(enqueue_many(jobs, connection=db))
    with db.transaction() as connection:
        connection.execute(DIED, [dead])
    enqueue("report", queue="running", connection=db)
    take(db, "running", 1, 10 * MINUTE, MINUTE)
    hold_back(db)
    fail(db)
    schedules.save(db, schedules.Schedule("nightly", "0 8 * * *", NewJob("report.build")))
    queues = ["edited", "running", *(f"{name}-one" for name in VERBS)]
    return {queue: str(list_jobs(db, queue=queue, limit=1).rows[0].id) for queue in queues}


def hold_back(db: Database) -> None:
    """Pause a kind, limit a queue and each group, and let a group wait."""
    pause(db, kind="mail.send")
    limit(db, 2, queue="limited")
    limit(db, 1, per="group")
    enqueue("slow", queue="slow", group="shop/4", connection=db)
    (job,) = take(db, "slow", 1, MINUTE, MINUTE)
    finish(job, Failed({"type": "RetryAfter", "message": "busy"}, hold=60 * MINUTE))


def fail(db: Database) -> None:
    """Let jobs of two causes die, and a job of one of two batches."""
    for kind in ("failing", "slowly"):
        for _ in range(2):
            enqueue(kind, queue=kind, connection=db)
            run_one(db, Failed({"type": "Broken", "message": kind}, final=True), kind)
    with batch(name="open batch", connection=db) as opened:
        opened.enqueue("echo", queue="open-batch", delay=DAY)
        opened.enqueue("echo", queue="open-batch", delay=DAY)
    with batch(name="failed batch", connection=db) as failed:
        failed.enqueue("echo", queue="failed-batch")
    run_one(db, Failed({"type": "Broken", "message": "batch"}, final=True), "failed-batch")
