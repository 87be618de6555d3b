"""The engine's rules, each by a case that can be reckoned by hand. Ticks are at 0, 60, 120 and so on."""

from typing import Any

import pytest

from minutehand.model.retry import Retry
from minutehand_pipeline.simulate.arrivals import BACK, CANCELLED, DONE, FAILED, FINAL, LAPSED
from minutehand_pipeline.simulate.grid import read_retry
from minutehand_pipeline.simulate.outcome import rows
from minutehand_pipeline.simulate.policy import Limit
from tests.pipeline.simulate.cases import begun, job, play, states

FIXED = read_retry({"strategy": "fixed", "min": 90, "jitter": False})


def test_a_job_waits_for_the_tick_after_it_is_due() -> None:
    assert begun([job(0.0), job(0.1), job(61.0, known=5.0), job(60.0)]) == [0.0, 60.0, 120.0, 60.0]


def test_no_more_jobs_are_offered_or_running_than_the_capacity() -> None:
    assert begun([job(1.0)] * 5, capacity=2) == [60.0, 60.0, 120.0, 120.0, 180.0]


def test_what_still_runs_at_a_tick_takes_its_room() -> None:
    assert begun([job(1.0, 70.0, timeout=900), job(1.0), job(2.0), job(2.0)], capacity=2, worker_timeout=900.0) == [
        60.0, 60.0, 120.0, 180.0,
    ]  # fmt: skip


def test_the_jobs_of_a_chunk_run_one_after_the_other() -> None:
    jobs = [job(1.0, 3.0), job(1.0, 4.0), job(1.0, 5.0)]

    assert begun(jobs, chunk=3) == [60.0, 63.0, 67.0]
    assert begun(jobs, chunk=2) == [60.0, 63.0, 60.0]
    assert [sum(play(jobs, chunk=chunk).invocations) for chunk in (1, 2, 3)] == [3, 2, 1]


def test_a_chunk_is_of_one_queue() -> None:
    tally = play([job(1.0, queue="mail"), job(1.0, queue="other")] * 2, chunk=4)

    assert tally.invocations == [1, 1]


def test_a_claim_and_each_finish_take_their_time_and_are_billed() -> None:
    tally = play([job(1.0, 3.0), job(1.0, 4.0)], chunk=2, claim=0.25, finish=0.5, latency=1.0, memory_mb=1024)

    assert tally.began == [61.25, 64.75]
    assert tally.gb_seconds == [pytest.approx(0.25 + 3.0 + 0.5 + 4.0 + 0.5)]


def test_an_environment_begins_cold_and_is_warm_for_the_next_event_until_it_is_given_up() -> None:
    jobs = [job(1.0), job(61.0), job(400.0)]

    assert begun(jobs, cold=2.0, warm=100.0) == [62.0, 120.0, 422.0]
    assert play(jobs, cold=2.0, warm=100.0).cold == [2]


def test_what_is_over_the_concurrency_waits_in_lambdas_queue() -> None:
    assert begun([job(1.0, 5.0), job(1.0, 7.0), job(1.0), job(1.0)], concurrency=2) == [
        60.0,
        60.0,
        65.0,
        66.0,
    ]


def test_a_higher_priority_goes_first_and_in_a_lane_the_longest_due() -> None:
    jobs = [job(1.0), job(2.0, priority=9), job(3.0)]

    assert begun(jobs, capacity=1) == [120.0, 60.0, 180.0]


def test_queues_take_turns_however_much_one_of_them_has() -> None:
    jobs = [*[job(1.0, queue="loud")] * 4, job(2.0, queue="quiet")]

    assert begun(jobs, capacity=2) == [60.0, 120.0, 120.0, 180.0, 60.0]


def test_a_failed_attempt_comes_back_as_its_own_strategy_says_or_the_policys() -> None:
    jobs = [job(0.0, 1.0, 1.0, outcomes=[FAILED, DONE], retry='{"strategy": "fixed", "min": 200, "max": 3600, '
                '"factor": 3, "jitter": false}'), job(1000.0)]  # fmt: skip

    assert play(jobs).busy[1][0] == 240.0  # 1 + 200 is 201
    assert play(jobs, retry=FIXED).busy[1][0] == 120.0


def test_exponential_waits_grow_and_jitter_only_shortens_them() -> None:
    retry = Retry(jitter=False)
    jobs = [job(0.0, 1.0, 1.0, 1.0, outcomes=[FAILED, FAILED, DONE])]

    assert [at for at, _ in play(jobs, retry=retry, interval=1.0).busy] == [0.0, 11.0, 42.0]
    jittered = [at for at, _ in play(jobs, retry=Retry(), interval=1.0).busy]
    assert 1.0 <= jittered[1] <= 11.0
    assert jittered == [at for at, _ in play(jobs, retry=Retry(), interval=1.0).busy]
    assert jittered != [at for at, _ in play(jobs, seed=1, retry=Retry(), interval=1.0).busy]


def test_fewer_attempts_bury_what_would_have_come_through() -> None:
    jobs = [job(0.0, 1.0, 1.0, 1.0, outcomes=[FAILED, FAILED, DONE]), job(0.0)]

    assert states(play(jobs)) == {"done": 2}
    assert states(play(jobs, max_attempts=2)) == {"done": 1, "dead": 1}
    assert play(jobs, max_attempts=2).attempts == [3]


def test_beyond_the_record_attempts_fail_or_recover_as_the_policy_says() -> None:
    jobs = [job(0.0, 1.0, 1.0, outcomes=[FAILED, FAILED], max_attempts=2)]

    assert states(play(jobs)) == {"dead": 1}
    assert (states(play(jobs, max_attempts=5)), play(jobs, max_attempts=5).attempts) == ({"dead": 1}, [5])
    recovered = play(jobs, max_attempts=5, recovers=1.0)
    assert (states(recovered), recovered.attempts) == ({"done": 1}, [3])


def test_what_failed_for_good_or_was_cancelled_stays_so() -> None:
    jobs = [job(0.0, outcomes=[FINAL]), job(0.0, outcomes=[CANCELLED])]

    assert states(play(jobs, max_attempts=9)) == {"dead": 1, "cancelled": 1}


def test_a_snooze_costs_no_attempt() -> None:
    jobs = [job(0.0, 1.0, 1.0, outcomes=[BACK, DONE], gaps=[100.0, 0.0])]
    tally = play(jobs, max_attempts=1)

    assert states(tally) == {"done": 1}
    assert tally.busy[1][0] == 120.0


def test_an_attempt_over_its_timeout_fails_and_would_again() -> None:
    jobs = [job(0.0, 30.0)]
    tally = play(jobs, timeout=10.0, max_attempts=3, retry=FIXED)

    assert (states(tally), tally.attempts) == ({"dead": 1}, [3])
    assert [ended - at for at, ended in tally.busy] == [10.0, 10.0, 10.0]


def test_what_the_workers_time_is_too_short_for_is_given_back_and_costs_no_attempt() -> None:
    tally = play([job(1.0, 6.0), job(1.0, 6.0), job(1.0, 6.0)], chunk=3, worker_timeout=10.0, max_attempts=1)

    assert tally.began == [60.0, 120.0, 180.0]
    assert states(tally) == {"done": 3}


def test_a_worker_that_dies_takes_its_chunk_with_it_until_their_leases_are_over() -> None:
    jobs = [job(1.0, 0.0, 1.0, outcomes=[LAPSED, DONE]), job(1.0)]
    tally = play(jobs, chunk=2, worker_timeout=60.0, grace=2.0)

    assert tally.busy[0] == (60.0, 119.5)
    assert tally.began == [60.0, 181.0]  # their leases end at 122
    assert tally.attempts == [3]


def test_the_last_worker_of_a_job_that_dies_buries_it() -> None:
    assert states(play([job(1.0, 0.0, outcomes=[LAPSED], max_attempts=1)])) == {"dead": 1}


def test_an_offer_that_nobody_claims_in_time_is_made_again_and_its_first_event_claims_nothing() -> None:
    jobs = [job(1.0, 130.0, timeout=900), job(2.0)]
    tally = play(jobs, concurrency=1, offer_ttl=60.0, worker_timeout=900.0)

    assert tally.began == [60.0, 190.0]
    assert tally.invocations == [4.0]  # at 60 both, at 120 and 180 the second again
    assert states(tally) == {"done": 2}


def test_a_lapsed_offer_that_nobody_made_again_is_still_good() -> None:
    jobs = [job(1.0, 70.0, timeout=900), job(2.0)]

    assert begun(jobs, concurrency=1, offer_ttl=65.0, worker_timeout=900.0) == [60.0, 130.0]


def test_where_there_are_limits_a_lapsed_offer_is_void() -> None:
    jobs = [job(1.0, 70.0, timeout=900), job(2.0)]
    limits = (Limit(queue="default", most=9),)

    assert begun(jobs, concurrency=1, offer_ttl=65.0, worker_timeout=900.0, limits=limits) == [60.0, 180.0]


def test_a_queue_whose_offers_lapse_is_offered_less() -> None:
    jobs = [job(1.0, 800.0, timeout=900), *[job(2.0)] * 100]
    tally = play(jobs, concurrency=1, offer_ttl=30.0, worker_timeout=900.0, capacity=20)

    # Twenty a tick would be 280 in the fourteen minutes for which nobody answers.
    assert sum(tally.invocations) < 200


@pytest.mark.parametrize(
    "limit",
    [
        Limit(queue="mail", most=1), Limit(kind="slow", most=1), Limit(key="ada", most=1),
        Limit(queue="mail", key="ada", most=1),
    ],
    ids=str,
)  # fmt: skip
def test_no_more_run_at_once_than_a_limit_says_and_the_others_do_not_wait(limit: Limit) -> None:
    bound: dict[str, Any] = {"queue": "mail", "kind": "slow", "key": "ada"}
    jobs = [job(1.0, **bound), job(1.0, **bound), job(1.0, **bound), job(2.0)]

    assert begun(jobs, limits=(limit,)) == [60.0, 120.0, 180.0, 60.0]


def test_what_a_limit_of_nothing_holds_back_is_left_unfinished() -> None:
    for mode in ("minute", "prompt", "sleep"):
        tally = play([job(1.0, queue="mail"), job(1.0)], limits=(Limit(queue="mail", most=0),), mode=mode)
        assert states(tally) == {"unfinished": 1, "done": 1}


def test_prompt_begins_at_once_what_there_is_room_for() -> None:
    assert begun([job(7.0, 2.0), job(7.5), job(10.0)], mode="prompt", capacity=1) == [7.0, 60.0, 10.0]
    assert begun([job(7.0, 2.0), job(7.5), job(10.0)], mode="prompt", capacity=9) == [7.0, 7.5, 10.0]


def test_a_prompt_dispatcher_stays_up_for_what_is_due_before_the_next_tick() -> None:
    known = job(75.0, known=10.0)
    later = job(80.0, known=70.0)  # the dispatcher went to sleep at 60 but for 75, and looks again then

    assert begun([known, later], mode="prompt") == [75.0, 80.0]
    assert begun([later], mode="prompt") == [120.0]


def test_sleep_wakes_at_the_minute_of_what_is_due_and_at_no_other() -> None:
    tally = play([job(10.0), job(3600.0, known=10.0)], mode="sleep")

    assert tally.began == [60.0, 3600.0]
    assert [at for at, _ in tally.looks] == [60.0, 3600.0]


def test_sleep_looks_again_for_what_there_was_no_room_for_and_for_what_comes_back() -> None:
    jobs = [job(10.0, 1.0, 1.0, outcomes=[FAILED, DONE]), job(10.0)]
    tally = play(jobs, mode="sleep", capacity=1, retry=FIXED)

    assert [at for at, _ in tally.looks] == [60.0, 120.0, 180.0]
    assert states(tally) == {"done": 2}


def test_asleep_a_dead_workers_job_is_found_by_the_sweep() -> None:
    tally = play([job(10.0, 0.0, 1.0, outcomes=[LAPSED, DONE])], mode="sleep", sweep=7200.0)

    assert [at for at, _ in tally.looks] == [60.0, 7200.0]
    assert states(tally) == {"done": 1}


def test_a_paused_database_wakes_up_first() -> None:
    assert begun([job(3600.0, known=10.0)], mode="sleep", resume=15.0) == [3615.0]
    assert begun([job(3550.0)], mode="sleep", resume=15.0) == [3600.0]  # who enqueued it has woken it


@pytest.mark.parametrize("due", [0.0, 1.79e9])
@pytest.mark.parametrize(
    ("lasted", "billed"), [(2.007, 2.007), (2.00701, 2.008), (4.35, 4.35), (59.001, 59.001)]
)
def test_a_whole_millisecond_is_billed_as_it_is(due: float, lasted: float, billed: float) -> None:
    assert play([job(due, lasted)], memory_mb=1024).gb_seconds == [pytest.approx(billed, abs=1e-9)]


def test_so_is_a_tick() -> None:
    tally = play([job(0.0)], tick_seconds=16.1, dispatcher_mb=1024)

    *_, dispatcher = rows(0, tally, 0.0, 60.0)

    assert dispatcher["tick_gb_seconds"] == pytest.approx(16.1, abs=1e-9)
