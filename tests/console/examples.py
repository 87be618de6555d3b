"""Jobs in every state, as a shop has them: for screenshots and for the checks of every page."""

from datetime import timedelta

from minutehand import Database, NewJob, Retry, batch, enqueue, enqueue_many, schedules
from minutehand.claim import take
from minutehand.finish import finish
from minutehand.model.outcome import Done, Failed
from minutehand.model.worker import Worker
from minutehand.operations.controls import limit, pause
from minutehand.queries.jobs import list_jobs
from tests.retries import IN_AN_HOUR

MINUTE = timedelta(minutes=1)
SCRIPT = "<img src=x onerror=\"document.title='broken into'\"><script>document.title='broken into'</script>"
HOSTILE = (
    SCRIPT,
    "\u202egnp.exe \u2067\u05e9\u05dc\u05d5\u05dd\u2069 \u0645\u0631\u062d\u0628\u0627",
    "👩‍🚀🏳️‍🌈" * 40,
    "x" * 900,
    "a\u0000b\ufffd".replace("\u0000", "") + "\n\t'\"`${{}}",
)


# Names that turn the text around them around, unless a page shows them escaped.
TURNED = "\u202egnp.exe\u2066\u061c"


def run_one(db: Database, outcome: Done | Failed, queue: str = "default") -> None:
    """Run the next job of a queue."""
    (job,) = take(db, queue, 1, MINUTE, timedelta(seconds=2))
    finish(job, outcome)


def enqueue_examples(db: Database) -> None:
    """Enqueue the jobs of the screenshots: finished, failing, paused and upcoming ones."""
    for invoice in range(1001, 1004):
        enqueue("invoice.send", {"invoice": invoice}, key=f"invoice/{invoice}", connection=db)
        run_one(db, Done(f'{{"message_id": "m-{invoice}"}}'))
    enqueue("report.build", {"week": 46}, key="report/46", connection=db)
    run_one(db, Failed({"type": "KeyError", "message": "'total'"}, final=True))
    enqueue("card.charge", {"order": 77}, key="order/77", max_attempts=5, retry=IN_AN_HOUR, connection=db)
    run_one(db, Failed({"type": "ConnectTimeout", "message": "no response within 5 s"}))
    enqueue("thumbnail", {"image": 9}, key="image/9", queue="media", connection=db)
    take(db, "media", 1, 60 * MINUTE, timedelta(seconds=2))
    enqueue("newsletter", {"edition": 12}, key="newsletter/12", queue="mail", connection=db)
    pause(db, queue="mail", reason="the provider has an incident")
    waiting = [
        NewJob("welcome", {"email": "ada@example.com"}, key="welcome/ada", delay=timedelta(days=3)),
        NewJob("reminder", {"customer": 4}, key="reminder/4", delay=timedelta(hours=8), priority=2),
        NewJob("report.build", {"week": 47}, every="0 8 * * mon", zone="Europe/Berlin", key="report"),
    ]
    list(enqueue_many(waiting, connection=db))
    schedules.save(
        db, schedules.Schedule("weekly report", "0 8 * * mon", NewJob("report.build"), zone="Europe/Berlin")
    )


def name_hostile(db: Database) -> None:
    """Give a group, a batch, a schedule, an actor, a reason, a worker and a version names that attack the page."""
    for name in (TURNED, SCRIPT[:100]):
        with batch(name=name, connection=db) as jobs:
            jobs.enqueue("mail.send", group=name, queue="names", delay=timedelta(days=1))
        enqueue("mail.send", group=name, key=[name], queue="workers", connection=db)
        (job,) = take(db, "workers", 1, MINUTE, MINUTE, worker=Worker(name, version=name))
        finish(job, Failed({"type": "Broken", "message": name}, final=True))
        schedules.save(db, schedules.Schedule(name, "0 8 * * mon", NewJob("report.build", key=[name])))
        pause(db, key=name, reason=name, actor=name)


def enqueue_hostile(db: Database) -> None:
    """Enqueue failed jobs whose texts attack the page: markup, other directions, emoji, and long words."""
    for number, text in enumerate(HOSTILE):
        enqueue(
            "mail.send",
            {"text": text, "deep": [[[text]]]},
            key=text[:500],
            retry=Retry(strategy="fixed", min=timedelta()),
            max_attempts=2,
            queue=f"hostile-{number}",
            connection=db,
        )
        for _ in range(2):
            run_one(db, Failed({"type": "Broken", "message": text, "trace": text}), f"hostile-{number}")


def enqueue_crowd(db: Database) -> dict[str, str]:
    """Enqueue jobs for every action; return the id of one of each kind."""
    enqueue_examples(db)
    name_hostile(db)
    text = "\n".join(HOSTILE)
    enqueue("broken", connection=db)
    run_one(db, Failed({"type": "Broken", "message": text, "trace": text}, final=True))
    with batch(name="failing", connection=db) as jobs:
        jobs.enqueue("broken", queue="batch")
    run_one(db, Failed({"type": "Broken", "message": "no"}, final=True), "batch")
    for number in range(60):
        enqueue("echo", number, queue="many", delay=timedelta(days=9), connection=db)
    enqueue("attack", {"text": text}, key=[HOSTILE[0]], delay=timedelta(days=9), connection=db)
    limit(db, 2, queue="mail", kind="mail.send")
    return {row.kind.partition(".")[0]: str(row.id) for row in list_jobs(db, limit=500).rows}
