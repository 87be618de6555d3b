"""Waits in a queue with random arrivals, constant times and several servers, in seconds: M/D/c."""

from collections.abc import Sequence
from itertools import accumulate
from math import exp, lgamma, log

# Numbers above these have no weight at the loads that are measured.
MOST_JOBS, MOST_NEW, PERIODS = 300, 60, 1500


def best(arrivals: Sequence[float], servers: int, seconds: float) -> list[float]:
    """Return the waits if each job starts as soon as it has arrived and a server is free, in the order of arrival."""
    starts: list[float] = []
    for number, arrival in enumerate(sorted(arrivals)):
        free = starts[number - servers] + seconds if number >= servers else arrival
        starts.append(max(arrival, free))
    return [start - arrival for start, arrival in zip(starts, sorted(arrivals), strict=True)]


def percentiles(servers: int, load: float, seconds: float, parts: Sequence[float]) -> list[float]:
    """Return how long these parts of the jobs, from 0 to 1, wait at most, in the long run."""
    at_most = cumulated(in_system(servers, servers * load))
    return [_percentile(at_most, servers, load, seconds, part) for part in parts]


def _percentile(at_most: Sequence[float], servers: int, load: float, seconds: float, part: float) -> float:
    low, high = 0.0, 100 * seconds
    while high - low > seconds / 10_000:
        middle = (low + high) / 2
        if waited(at_most, servers, load, seconds, middle) < part:
            low = middle
        else:
            high = middle
    return high


def waited(at_most: Sequence[float], servers: int, load: float, seconds: float, most: float) -> float:
    """Return the part of the jobs that wait up to `most`.

    `at_most[n]` is the probability of up to n jobs in the system.
    See G. J. Franx, A simple solution for the M/D/c waiting time distribution, 2001.
    """
    periods = int(most / seconds) + 1
    new = servers * load * (periods - most / seconds)
    places = range(periods * servers)
    return sum(
        at_most[min((periods + 1) * servers - n - 1, len(at_most) - 1)] * poisson(new, n) for n in places
    )


def in_system(servers: int, arrivals: float) -> list[float]:
    """Return the probability of each number of jobs in M/D/c, of which a period serves `servers` (Crommelin)."""
    new = [poisson(arrivals, number) for number in range(MOST_NEW)]
    state = [1.0] + [0.0] * (MOST_JOBS - 1)
    for _ in range(PERIODS):
        left = [sum(state[: servers + 1]), *state[servers + 1 :]]
        following = [0.0] * MOST_JOBS
        for number, probability in enumerate(left):
            # The others do not change the result.
            if probability > 1e-15:
                for more, chance in enumerate(new[: MOST_JOBS - number]):
                    following[number + more] += probability * chance
        if max(abs(a - b) for a, b in zip(state, following, strict=True)) < 1e-12:
            break
        state = following
    return state


def poisson(mean: float, number: int) -> float:
    """Return the probability of a number of arrivals."""
    return exp(number * log(mean) - mean - lgamma(number + 1)) if mean > 0 else float(number == 0)


def cumulated(probabilities: Sequence[float]) -> list[float]:
    """Return the probability of at most each number."""
    return list(accumulate(probabilities))
