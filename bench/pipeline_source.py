"""Read finished rows into Spark, compared with JDBC with as many partitions, and with COPY TO."""

import os
from datetime import timedelta
from pathlib import Path

import psycopg
from pyspark.sql import DataFrame, SparkSession

from bench.measure import Measured, against
from minutehand_pipeline.queue.source import register
from minutehand_pipeline.session import build_session
from tests.pipeline.history import LAST, fill_history

JARS = [Path("/usr/share/java/postgresql.jar"), Path(os.environ.get("JDBC_JAR", "/nowhere"))]
TASKS = 4
ROUNDS = 3
COLUMNS = "id,ack,queue,kind,key,enqueued,visible,deleted,attempts,failed,payload"


def measure(url: str, rows: int) -> list[Measured]:
    """Measure one day of `rows` finished jobs; skip JDBC without the jar of Debian's libpostgresql-jdbc-java."""
    with psycopg.connect(url, autocommit=True) as connection:
        fill_history(connection, rows, alone=True)
        connection.execute("vacuum analyze minutehand.jobs_done")
    # Set before the session starts, because its tasks inherit the environment.
    os.environ["DATABASE_URL"] = url
    jar = next((path for path in JARS if path.exists()), None)
    settings = {"spark.jars": str(jar)} if jar else {}
    spark = build_session("minutehand bench", cores=2, settings=settings)
    register(spark)

    def ours() -> None:
        _drain(spark.read.format("minutehand").option("partitions", TASKS).option("columns", COLUMNS).load())

    measured = [against("read done rows / COPY TO", rows, ours, lambda: _copy_out(url), rounds=ROUNDS)]
    if jar is None:
        measured.append(Measured("read done rows / JDBC", "no jar: apt-get install libpostgresql-jdbc-java"))
    else:
        jdbc = against(
            "read done rows / JDBC", rows, ours, lambda: _drain(_jdbc(spark, url)), rounds=ROUNDS, aim="1.00"
        )
        measured.append(jdbc)
    return measured


def _drain(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _copy_out(url: str) -> None:
    text = f"copy (select {COLUMNS} from minutehand.jobs_done) to stdout (format binary)"
    with psycopg.connect(url) as connection, connection.cursor() as cursor, cursor.copy(text) as copy:
        for _ in copy:
            pass


def _jdbc(spark: SparkSession, url: str) -> DataFrame:
    parts = psycopg.conninfo.conninfo_to_dict(url)
    begin, width = f"{LAST} 00:00:00+00", timedelta(days=1) / TASKS
    texts = ", ".join(
        f"{name}::text as {name}" if name in ("id", "ack", "queue", "kind", "key", "payload") else name
        for name in COLUMNS.split(",")
    )
    bounds = [
        f"deleted >= timestamptz '{begin}' + interval '{n * width.total_seconds()} s' and "
        f"deleted < timestamptz '{begin}' + interval '{(n + 1) * width.total_seconds()} s'"
        for n in range(TASKS)
    ]
    return spark.read.jdbc(
        f"jdbc:postgresql://{parts['host']}:{parts.get('port', 5432)}/{parts['dbname']}",
        f"(select {texts} from minutehand.jobs_done) jobs",
        predicates=bounds,
        properties={
            "user": str(parts["user"]),
            "password": str(parts.get("password", "")),
            "fetchsize": "10000",
            "driver": "org.postgresql.Driver",
        },
    )
