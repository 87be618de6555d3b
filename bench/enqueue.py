"""Enqueue single jobs, compared with INSERT, and many jobs, compared with COPY into the same table."""

from collections import deque

from bench.measure import Measured, against
from minutehand.database import Database
from minutehand.enqueue import enqueue, enqueue_many
from minutehand.model.new_job import NewJob

PAYLOAD = {"email": "ada@example.com", "template": "welcome", "attempt": 12345}
TEXT = '{"email":"ada@example.com","template":"welcome","attempt":12345}'


def measure(url: str, one: int, many: int) -> list[Measured]:
    """Measure both; the COPY writes the same columns as the bulk enqueue, with checks and indexes."""
    database = Database(url)

    def clear() -> None:
        database.connection.execute("truncate minutehand.jobs")

    def ours_one() -> None:
        for _ in range(one):
            enqueue("welcome", PAYLOAD, connection=database)

    def bare_one() -> None:
        for _ in range(one):
            database.connection.execute(
                "insert into minutehand.jobs (kind, payload) values (%s, %s::json)", ("welcome", TEXT)
            )

    def ours_many() -> None:
        deque(enqueue_many((NewJob("welcome", PAYLOAD) for _ in range(many)), connection=database), maxlen=0)

    def raw_copy() -> None:
        with (
            database.connection.cursor() as cursor,
            cursor.copy("copy minutehand.jobs (kind, payload) from stdin") as copy,
        ):
            for _ in range(many):
                copy.write_row(("welcome", TEXT))

    measured = [
        against("enqueue one / INSERT", one, ours_one, bare_one, before=clear),
        against("enqueue many / raw COPY", many, ours_many, raw_copy, before=clear, aim="0.60"),
    ]
    clear()
    database.close()
    return measured
