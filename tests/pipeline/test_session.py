"""The Spark session uses UTC, whatever the machine's zone is."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from minutehand.database import connect
from tests.pipeline.history import fill_history
from tests.servers import Database


def test_day_is_utc_in_any_time_zone(spark: SparkSession) -> None:
    row = (
        spark.sql("select timestamp'2026-03-31 23:59:59.999999Z' as at")
        .select(F.to_date("at").cast("string"))
        .first()
    )

    assert row is not None
    assert row[0] == "2026-03-31"


def test_history_fills_the_partitions_of_its_days(direct_database: Database) -> None:
    with connect(direct_database.url) as connection:
        days = fill_history(connection, 100, days=2)
        counts = connection.execute(
            """
            select (select count(*) from minutehand.jobs_done_20260330),
                   (select count(*) from minutehand.jobs_done_20260331),
                   (select count(*) from minutehand.jobs_done_default),
                   (select count(*) from minutehand.attempts), (select count(*) from minutehand.events)
            """
        ).fetchone()

    assert len(days) == 2
    assert counts == (50, 50, 0, 120, 100)
