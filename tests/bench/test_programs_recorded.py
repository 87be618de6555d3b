"""The benchmarks of groups, further jobs and waits run with small sizes, and their results can be published."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench import further, groups, results
from bench.measure import Measured
from bench.others import alone
from bench.page.dispatching import further_runs, offer_runs, wait_runs
from bench.queues.publish import publish_record
from bench.recorded import recorded
from bench.results import Further, Offers, Results, Waits
from tests.servers import Servers


@pytest.fixture
def server(servers: Servers) -> str:
    return servers.address("direct-18").url


def published(name: str, record: Offers | Further | Waits, file: Path) -> Results:
    """Publish a result in a file, and return what the file has."""
    publish_record(recorded(1)[name].field, record, file)
    return results.load(file)


def lines(name: str, record: Offers | Further | Waits) -> list[Measured]:
    return list(recorded(1)[name].lines(record))


def test_offers_among_groups_are_measured(server: str, tmp_path: Path) -> None:
    record = groups.measure(server, groups=2000, commit="now", offers=1)

    assert set(record.milliseconds) == set(groups.CASES)
    assert {len(rounds) for rounds in record.milliseconds.values()} == {groups.ROUNDS}
    assert all(
        value is not None for rounds in record.milliseconds.values() for each in rounds for value in each
    )
    assert len(lines("groups", record)) == len(groups.CASES)
    reasons = dict.fromkeys(groups.CASES, "")
    assert "2,000 groups" in offer_runs(published("groups", record, tmp_path / "file").offers, reasons)


def test_offer_that_finds_no_job_is_an_error(server: str) -> None:
    with pytest.raises(RuntimeError, match="an offer found no job"):
        groups.measure(server, groups=100, offers=1)


def test_further_jobs_are_measured_with_both_workers(server: str, tmp_path: Path) -> None:
    record = further.measure(server, seconds=0.1, minutes=1, commit="now", minute=3.0)

    assert set(record.rates) == {"100", "1"}
    assert record.rates["1"] <= further.CAPACITY
    assert [line.limit for line in lines("further-jobs", record)] == ["3000 possible", "5 possible"]
    assert "up to 100 jobs" in further_runs(published("further-jobs", record, tmp_path / "file").further)


def test_waits_under_load_are_measured_next_to_the_theory(server: str, tmp_path: Path) -> None:
    record: Waits = alone("prompt_load", server, 2.0, 0.5, "now")

    assert record.jobs > 1
    assert [len(values) for values in record.waits.values()] == [3, 3, 3]
    assert len(lines("prompt-load", record)) == 3
    assert "| measured |" in wait_runs(published("prompt-load", record, tmp_path / "file").waits)


@pytest.mark.parametrize("name", recorded(1))
def test_publishing_keeps_the_other_results(name: str, tmp_path: Path) -> None:
    file, old = tmp_path / "file", Results(machine={"cores": "2"})
    results.save(old, file)
    field = recorded(1)[name].field

    publish_record(field, replace(getattr(old, field), commit="now"), file)

    found = results.load(file)
    assert getattr(found, field).commit == "now"
    assert {**vars(found), field: None} == {**vars(old), field: None}
