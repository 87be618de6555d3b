"""A Spark that waits for drivers: prints its port and secret, then answers `idle` when no job runs."""

import sys
from time import sleep

from pyspark import SparkContext

from minutehand_pipeline.session import build_session
from tests.pipeline.conftest import QUICK


def main() -> None:
    spark = build_session("kills", cores=2, settings={**QUICK, "spark.driver.memory": "1g"})
    gateway = SparkContext._gateway
    assert gateway is not None
    parameters = gateway.gateway_parameters
    answer(f"{parameters.port} {parameters.auth_token}")
    for _ in sys.stdin:
        while spark.sparkContext.statusTracker().getActiveJobsIds():
            sleep(0.05)
        answer("idle")


def answer(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
