"""The engine's rules, with cases that can be computed by hand. Ticks are at 0, 60, 120 and so on."""

import pytest

from minutehand.model.retry import Retry
from minutehand_pipeline.simulate.arrivals import BACK, CANCELLED, DONE, FAILED, FINAL, LAPSED
from minutehand_pipeline.simulate.grid import parse_retry
from minutehand_pipeline.simulate.measures import rows
from tests.pipeline.simulate.cases import job, simulated, starts, states

FIXED = parse_retry({"strategy": "fixed", "min": 90, "jitter": False})


def test_job_starts_at_the_first_tick_after_it_is_due() -> None:
    assert starts([job(0.0), job(0.1), job(61.0, known=5.0), job(60.0)]) == [0.0, 60.0, 120.0, 60.0]


def test_capacity_limits_offered_and_running_jobs() -> None:
    assert starts([job(1.0)] * 5, capacity=2) == [60.0, 60.0, 120.0, 120.0, 180.0]


def test_running_job_counts_against_the_capacity() -> None:
    assert starts(
        [job(1.0, 70.0, timeout=900), job(1.0), job(2.0), job(2.0)], capacity=2, worker_timeout=900.0
    ) == [
        60.0,
        60.0,
        120.0,
        180.0,
    ]


def test_jobs_of_a_chunk_run_one_after_the_other() -> None:
    jobs = [job(1.0, 3.0), job(1.0, 4.0), job(1.0, 5.0)]

    assert starts(jobs, chunk=3) == [60.0, 63.0, 67.0]
    assert starts(jobs, chunk=2) == [60.0, 63.0, 60.0]
    assert [sum(simulated(jobs, chunk=chunk).invocations) for chunk in (1, 2, 3)] == [3, 2, 1]


def test_chunk_has_jobs_of_one_queue() -> None:
    tally = simulated([job(1.0, queue="mail"), job(1.0, queue="other")] * 2, chunk=4)

    assert tally.invocations == [1, 1]


def test_claim_and_finish_take_time_and_are_billed() -> None:
    tally = simulated(
        [job(1.0, 3.0), job(1.0, 4.0)], chunk=2, claim=0.25, finish=0.5, latency=1.0, memory_mb=1024
    )

    assert tally.began == [61.25, 64.75]
    assert tally.gb_seconds == [pytest.approx(0.25 + 3.0 + 0.5 + 4.0 + 0.5)]


def test_environment_stays_warm_until_released() -> None:
    jobs = [job(1.0), job(61.0), job(400.0)]

    assert starts(jobs, cold=2.0, warm=100.0) == [62.0, 120.0, 422.0]
    assert simulated(jobs, cold=2.0, warm=100.0).cold == [2]


def test_invocations_over_the_concurrency_wait() -> None:
    assert starts([job(1.0, 5.0), job(1.0, 7.0), job(1.0), job(1.0)], concurrency=2) == [
        60.0,
        60.0,
        65.0,
        66.0,
    ]


def test_priority_comes_first_and_then_the_longest_due() -> None:
    jobs = [job(1.0), job(2.0, priority=9), job(3.0)]

    assert starts(jobs, capacity=1) == [120.0, 60.0, 180.0]


def test_queues_take_turns() -> None:
    jobs = [*[job(1.0, queue="loud")] * 4, job(2.0, queue="quiet")]

    assert starts(jobs, capacity=2) == [60.0, 120.0, 120.0, 180.0, 60.0]


def test_failed_attempt_uses_the_retry_strategy() -> None:
    jobs = [
        job(
            0.0,
            1.0,
            1.0,
            outcomes=[FAILED, DONE],
            retry='{"strategy": "fixed", "min": 200, "max": 3600, "factor": 3, "jitter": false}',
        ),
        job(1000.0),
    ]

    assert simulated(jobs).busy[1][0] == 240.0  # 1 + 200 is 201
    assert simulated(jobs, retry=FIXED).busy[1][0] == 120.0


def test_exponential_waits_grow_and_jitter_shortens_them() -> None:
    retry = Retry(jitter=False)
    jobs = [job(0.0, 1.0, 1.0, 1.0, outcomes=[FAILED, FAILED, DONE])]

    assert [at for at, _ in simulated(jobs, retry=retry, interval=1.0).busy] == [0.0, 11.0, 42.0]
    jittered = [at for at, _ in simulated(jobs, retry=Retry(), interval=1.0).busy]
    assert 1.0 <= jittered[1] <= 11.0
    assert jittered == [at for at, _ in simulated(jobs, retry=Retry(), interval=1.0).busy]
    assert jittered != [at for at, _ in simulated(jobs, seed=1, retry=Retry(), interval=1.0).busy]


def test_lower_max_attempts_makes_jobs_dead() -> None:
    jobs = [job(0.0, 1.0, 1.0, 1.0, outcomes=[FAILED, FAILED, DONE]), job(0.0)]

    assert states(simulated(jobs)) == {"done": 2}
    assert states(simulated(jobs, max_attempts=2)) == {"done": 1, "dead": 1}
    assert simulated(jobs, max_attempts=2).attempts == [3]


def test_attempts_beyond_the_record_follow_the_policy() -> None:
    jobs = [job(0.0, 1.0, 1.0, outcomes=[FAILED, FAILED], max_attempts=2)]

    assert states(simulated(jobs)) == {"dead": 1}
    assert (states(simulated(jobs, max_attempts=5)), simulated(jobs, max_attempts=5).attempts) == (
        {"dead": 1},
        [5],
    )
    recovered = simulated(jobs, max_attempts=5, recovers=1.0)
    assert (states(recovered), recovered.attempts) == ({"done": 1}, [3])


def test_final_failures_and_cancellations_are_kept() -> None:
    jobs = [job(0.0, outcomes=[FINAL]), job(0.0, outcomes=[CANCELLED])]

    assert states(simulated(jobs, max_attempts=9)) == {"dead": 1, "cancelled": 1}


def test_snooze_does_not_count_as_attempt() -> None:
    jobs = [job(0.0, 1.0, 1.0, outcomes=[BACK, DONE], gaps=[100.0, 0.0])]
    tally = simulated(jobs, max_attempts=1)

    assert states(tally) == {"done": 1}
    assert tally.busy[1][0] == 120.0


def test_attempt_over_its_timeout_fails_every_time() -> None:
    jobs = [job(0.0, 30.0)]
    tally = simulated(jobs, timeout=10.0, max_attempts=3, retry=FIXED)

    assert (states(tally), tally.attempts) == ({"dead": 1}, [3])
    assert [ended - at for at, ended in tally.busy] == [10.0, 10.0, 10.0]


def test_jobs_without_enough_time_are_released() -> None:
    tally = simulated(
        [job(1.0, 6.0), job(1.0, 6.0), job(1.0, 6.0)], chunk=3, worker_timeout=10.0, max_attempts=1
    )

    assert tally.began == [60.0, 120.0, 180.0]
    assert states(tally) == {"done": 3}


def test_dead_workers_chunk_waits_for_its_leases() -> None:
    jobs = [job(1.0, 0.0, 1.0, outcomes=[LAPSED, DONE]), job(1.0)]
    tally = simulated(jobs, chunk=2, worker_timeout=60.0, grace=2.0)

    assert tally.busy[0] == (60.0, 119.5)
    assert tally.began == [60.0, 181.0]  # their leases end at 122
    assert tally.attempts == [3]


def test_job_is_dead_when_its_last_worker_dies() -> None:
    assert states(simulated([job(1.0, 0.0, outcomes=[LAPSED], max_attempts=1)])) == {"dead": 1}


def test_paused_database_resumes_before_a_tick() -> None:
    slow = {"interval": 600.0, "idle": 300.0, "resume": 15.0}

    assert starts([job(3600.0, known=10.0)], **slow) == [3615.0]
    assert starts([job(3600.0, known=10.0)], **(slow | {"idle": 1e9})) == [3600.0]


@pytest.mark.parametrize("due", [0.0, 1.79e9])
@pytest.mark.parametrize(
    ("lasted", "billed"), [(2.007, 2.007), (2.00701, 2.008), (4.35, 4.35), (59.001, 59.001)]
)
def test_whole_millisecond_is_not_rounded_up(due: float, lasted: float, billed: float) -> None:
    assert simulated([job(due, lasted)], memory_mb=1024).gb_seconds == [pytest.approx(billed, abs=1e-9)]


def test_tick_is_billed_exact_whole_milliseconds() -> None:
    tally = simulated([job(0.0)], tick_seconds=16.1, dispatcher_mb=1024)

    *_, dispatcher = rows(0, tally, 0.0, 60.0)

    assert dispatcher["tick_gb_seconds"] == pytest.approx(16.1, abs=1e-9)
