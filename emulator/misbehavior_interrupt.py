"""Interrupt: kill or freeze an environment while its handler runs, and never afterwards."""

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic
from typing import Self

from emulator.hooks import Environment
from emulator.misbehavior_fate import Run

POLL_SECONDS = 0.002

Record = Callable[[str, float], None]


class Interrupter:
    """Enclose an invocation, and kill or freeze its environment at given times."""

    def __init__(self, run: Run, environment: Environment, frozen: float, record: Record) -> None:
        """Do nothing before `with`; `record` is called with each fault and the seconds since the handler began."""
        self._run, self._environment, self._frozen, self._record = run, environment, frozen, record
        self._over = Event()
        self._before = environment.began
        strikes = run.kill is not None or run.freeze is not None
        self._thread = Thread(target=self._strike, daemon=True) if strikes else None

    def __enter__(self) -> Self:
        """Start the watch."""
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the watch and thaw the environment."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _strike(self) -> None:
        if self._run.kill is not None and self._reaches(self._run.kill):
            self._environment.kill()
            self._record("killed", self._run.kill)
        if self._run.freeze is not None and self._reaches(self._run.freeze):
            self._environment.freeze()
            self._record("frozen", self._run.freeze)
            self._over.wait(self._frozen)
            self._environment.thaw()

    def _reaches(self, moment: float) -> bool:
        """Wait until the handler has run for that long; return False if it ended earlier."""
        while (began := self._environment.began) in (0.0, self._before):
            if self._over.wait(POLL_SECONDS):
                return False
        return not self._over.wait(max(0.0, began + moment - monotonic()))
