"""The theory next to the waits of the mode `prompt`: random arrivals, constant times and several servers."""

from math import sqrt
from random import Random

import pytest

from bench.theory import best, cumulated, in_system, percentiles, waited


def test_mean_of_one_server_is_that_of_pollaczek_and_khinchine() -> None:
    at_most = cumulated(in_system(1, 0.6))
    mean = sum(1 - waited(at_most, 1, 0.6, 1.0, step / 100) for step in range(2000)) / 100

    # Of M/D/1: load / (2 * (1 - load)) periods. Each step counts with the value at its start.
    assert mean == pytest.approx(0.75, abs=0.01)


def test_four_servers_have_the_mean_of_the_pipelines_simulation() -> None:
    at_most = cumulated(in_system(4, 3.2))
    mean = sum(1 - waited(at_most, 4, 0.8, 30.0, step * 0.3) for step in range(2000)) * 0.3

    assert mean == pytest.approx(11.6, abs=0.2)


def test_percentiles_are_those_of_many_jobs_that_start_early() -> None:
    chance, arrival, arrivals, jobs = Random(1), 0.0, list[float](), 100_000
    for _ in range(jobs):
        arrival += chance.expovariate(3.2)
        arrivals.append(arrival)
    waits = sorted(best(arrivals, 4, 1.0))

    for part, expected in zip((0.5, 0.95), percentiles(4, 0.8, 1.0, (0.5, 0.95)), strict=True):
        assert waits[int(part * jobs)] == pytest.approx(expected, abs=20 / sqrt(jobs))


def test_job_starts_when_it_arrives_or_a_server_becomes_free() -> None:
    assert best([0.0, 0.5, 0.75, 9.0], 2, 1.0) == [0.0, 0.0, 0.25, 0.0]


def test_order_of_the_given_arrivals_does_not_matter() -> None:
    assert best([0.5, 0.0, 0.25], 1, 1.0) == [0.0, 0.75, 1.5]
