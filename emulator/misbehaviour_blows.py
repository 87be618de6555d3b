"""Blows: what strikes an environment while its handler is at work, and never when it is over."""

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic
from typing import Self

from emulator.hooks import Environment
from emulator.misbehaviour_fate import Run

LOOK_SECONDS = 0.002

Tell = Callable[[str, float], None]


class Blows:
    """Encloses an invocation: kills or freezes its environment at a moment of the handler's time."""

    def __init__(self, run: Run, environment: Environment, frozen: float, tell: Tell) -> None:
        """Strike nothing before `with`; `tell` is told each blow and how long after the beginning it came."""
        self._run, self._environment, self._frozen, self._tell = run, environment, frozen, tell
        self._over = Event()
        self._before = environment.began
        strikes = run.kill is not None or run.freeze is not None
        self._thread = Thread(target=self._strike, daemon=True) if strikes else None

    def __enter__(self) -> Self:
        """Begin to watch."""
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the environment in peace, thawed."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _strike(self) -> None:
        if self._run.kill is not None and self._reaches(self._run.kill):
            self._environment.kill()
            self._tell("killed", self._run.kill)
        if self._run.freeze is not None and self._reaches(self._run.freeze):
            self._environment.freeze()
            self._tell("frozen", self._run.freeze)
            self._over.wait(self._frozen)
            self._environment.thaw()

    def _reaches(self, moment: float) -> bool:
        """Wait until the handler has worked for so long; say False if it was over before."""
        while (began := self._environment.began) in (0.0, self._before):
            if self._over.wait(LOOK_SECONDS):
                return False
        return not self._over.wait(max(0.0, began + moment - monotonic()))
