"""An erasure of many days is committed in parts, so that its memory does not grow with the lake."""

from deltalake import DeltaTable

from minutehand_pipeline.archive.erase import EraseConfig, erase
from minutehand_pipeline.lake import DAYS_AT_ONCE
from minutehand_pipeline.lake.frames import read_lake
from minutehand_pipeline.schemas import HOMES
from tests.pipeline.archive.stage import Stage

DONE = HOMES["jobs_done"]


def test_erasure_of_many_days_is_committed_in_parts(stage: Stage) -> None:
    days = DAYS_AT_ONCE + 1
    stage.fill(14 * days, days=days)
    stage.archive(homes=("jobs_done",))
    of_tenant = read_lake(stage.spark, stage.lake, DONE).where("tenant = 'acme'")
    rows = of_tenant.where("payload is not null or result is not null").count()

    done = erase(EraseConfig(lake=stage.lake, tenant="acme", location=stage.location))

    of_tenant = read_lake(stage.spark, stage.lake, DONE).where("tenant = 'acme'")
    assert of_tenant.select("day").distinct().count() == days
    assert of_tenant.where("payload is not null or result is not null or key is not null").count() == 0
    assert done.erased["jobs_done"] >= rows > 0
    commits = DeltaTable(stage.lake.table(DONE).uri).history()
    assert [entry["operation"] for entry in commits].count("UPDATE") == 2
