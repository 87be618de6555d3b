"""Rounds: in each, every system runs every case once, in a random order, so that the machine's speed affects all."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.queues.cases import Case
from bench.queues.runs import Run
from bench.queues.systems import System

# The runs of the rounds, by the case's name and the system's.
Runs = dict[str, dict[str, list[Run]]]


@dataclass(frozen=True)
class Turn:
    """One run of a round."""

    round: int
    case: Case
    system: System


def turns(cases: Sequence[Case], systems: Sequence[System], rounds: int, seed: int) -> list[Turn]:
    """Return all runs.

    A round shuffles its cases, and within each case its systems, so that the systems of a case run close in time.
    """
    chance, order = random.Random(seed), []
    for number in range(1, rounds + 1):
        for case in chance.sample(cases, k=len(cases)):
            entrants = [system for system in systems if case.name in system.cases]
            order += [Turn(number, case, system) for system in chance.sample(entrants, k=len(entrants))]
    return order


def measure(order: Sequence[Turn], run: Callable[[Turn], Run]) -> Runs:
    """Run all turns, and return them by case and system."""
    runs: Runs = {}
    for turn in order:
        runs.setdefault(turn.case.name, {}).setdefault(turn.system.name, []).append(run(turn))
    return runs
