"""Fate: the faults of the n-th invocation of a function, derived from a seed."""

from dataclasses import dataclass
from random import Random

# How long a function was observed to overrun its timeout.
OVERRUN_SECONDS = 0.68


@dataclass(frozen=True, kw_only=True)
class Odds:
    """The probability of each fault, from 0 to 1, and its size.

    An event is lost, late or duplicated; a run of it is killed or frozen, and may overrun its timeout.
    """

    kill: float = 0.0
    freeze: float = 0.0
    overrun: float = 0.0
    duplicate: float = 0.0
    late: float = 0.0
    lose: float = 0.0
    within: float = 0.2
    """Kills and freezes come at a random moment of the handler's first `within` seconds."""
    frozen: float = 5.0
    """Seconds until a frozen environment is thawed; should exceed the lease."""
    late_by: tuple[float, float] = (60.0, 600.0)
    """Minimum and maximum, in seconds of the emulator's clock."""
    apart: float = 30.0
    """Half of the duplicates arrive together, the others up to this many seconds apart, by the emulator's clock."""

    def __post_init__(self) -> None:
        """Refuse values that are not probabilities."""
        for name in ("kill", "freeze", "overrun", "duplicate", "late", "lose"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be a probability from 0 to 1, got {getattr(self, name)}")
        if self.kill + self.freeze > 1 or self.duplicate + self.late + self.lose > 1:
            raise ValueError("kill + freeze must be at most 1, and so must duplicate + late + lose")


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """The fate of an event: the seconds after which each copy is delivered."""

    word: str = ""
    """lost, delayed or duplicated; empty if it is delivered normally."""
    delays: tuple[float, ...] = (0.0,)


@dataclass(frozen=True, kw_only=True)
class Run:
    """The fate of a run: seconds after the handler began, or None."""

    kill: float | None = None
    freeze: float | None = None
    overrun: float = 0.0


def draw_delivery(odds: Odds, seed: int, function: str, number: int) -> Delivery:
    """Return the fate of the n-th event of a function."""
    dice = Random(f"{seed} {function} {number} delivery")
    chance, moment, apart = dice.random(), dice.random(), dice.random()
    if chance < odds.lose:
        return Delivery(word="lost", delays=())
    if chance < odds.lose + odds.late:
        first, last = odds.late_by
        return Delivery(word="delayed", delays=(first + moment * (last - first),))
    if chance < odds.lose + odds.late + odds.duplicate:
        return Delivery(word="duplicated", delays=(0.0, 0.0 if apart < 0.5 else moment * odds.apart))
    return Delivery()


def draw_run(odds: Odds, seed: int, function: str, number: int, time: int) -> Run:
    """Return the fate of a run of the n-th invocation of a function."""
    dice = Random(f"{seed} {function} {number} run {time}")
    chance, moment, patience = dice.random(), dice.random() * odds.within, dice.random()
    return Run(
        kill=moment if chance < odds.kill else None,
        freeze=moment if odds.kill <= chance < odds.kill + odds.freeze else None,
        overrun=OVERRUN_SECONDS if patience < odds.overrun else 0.0,
    )
