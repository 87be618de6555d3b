"""Fate: what a seed has in store for the n-th invocation of a function, whenever and beside whatever it runs."""

from dataclasses import dataclass
from random import Random

OVERRUN_SECONDS = 0.68  # what a function was seen to live past its timeout


@dataclass(frozen=True, kw_only=True)
class Odds:
    """How likely each misbehaviour is, from 0 to 1, and how bad it is then.

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
    """Seconds until a frozen environment is thawed; more than the lease for the worst."""
    late_by: tuple[float, float] = (60.0, 600.0)
    """Seconds of the emulator's clock, from and to."""
    apart: float = 30.0
    """Of two copies, half come at once, the others up to so many seconds of the emulator's clock apart."""

    def __post_init__(self) -> None:
        """Refuse what is no chance."""
        for name in ("kill", "freeze", "overrun", "duplicate", "late", "lose"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is a chance from 0 to 1, not {getattr(self, name)}")
        if self.kill + self.freeze > 1 or self.duplicate + self.late + self.lose > 1:
            raise ValueError(
                "kill and freeze exclude each other, as do duplicate, late and lose: at most 1 together"
            )


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """What becomes of an event: the seconds after which each copy of it is delivered."""

    word: str = ""
    """lost, delayed or duplicated; empty for once and at once."""
    delays: tuple[float, ...] = (0.0,)


@dataclass(frozen=True, kw_only=True)
class Run:
    """What becomes of one run: seconds from the handler's beginning, None for never."""

    kill: float | None = None
    freeze: float | None = None
    overrun: float = 0.0


def draw_delivery(odds: Odds, seed: int, function: str, number: int) -> Delivery:
    """Draw for the n-th event of a function."""
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
    """Draw for the n-th invocation of a function, which runs for the first, second, ... time."""
    dice = Random(f"{seed} {function} {number} run {time}")
    chance, moment, patience = dice.random(), dice.random() * odds.within, dice.random()
    return Run(
        kill=moment if chance < odds.kill else None,
        freeze=moment if odds.kill <= chance < odds.kill + odds.freeze else None,
        overrun=OVERRUN_SECONDS if patience < odds.overrun else 0.0,
    )
