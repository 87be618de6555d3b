"""Lanes: what is due, and which of it the next offer takes; as offer.sql and `minutehand.choose` do."""

from collections.abc import Sequence
from heapq import heappop, heappush

from minutehand_pipeline.simulate.policy import Limit

Due = tuple[float, int]  # visible since, and the job's place among the arrivals


class Bounds:
    """How many more jobs each limit has room for; a limit that does not bind a job costs it nothing."""

    def __init__(self, limits: Sequence[Limit], named: Sequence[tuple[str, str, str]]) -> None:
        """Find out which limits are about which job."""
        self.limits = limits
        self.free = [limit.most for limit in limits]
        self._about: dict[tuple[str, str, str], tuple[int, ...]] = {}
        self._named = named

    def of(self, job: int) -> tuple[int, ...]:
        """Return the places of the limits that are about a job."""
        if not self.limits:
            return ()
        name = self._named[job]
        if name not in self._about:
            self._about[name] = tuple(n for n, limit in enumerate(self.limits) if _is_about(limit, name))
        return self._about[name]

    def fit(self, about: tuple[int, ...]) -> bool:
        """Whether every one of these limits has room for one more."""
        return all(self.free[n] > 0 for n in about)

    def take(self, job: int) -> None:
        """Count a job that is offered."""
        for n in self.of(job) if self.limits else ():
            self.free[n] -= 1

    def give(self, job: int) -> None:
        """Count no more a job that has ended, or whose offer or lease has."""
        for n in self.of(job) if self.limits else ():
            self.free[n] += 1


def _is_about(limit: Limit, name: tuple[str, str, str]) -> bool:
    pairs = zip((limit.queue, limit.kind, limit.key), name, strict=True)
    return all(wanted in ("", found) for wanted, found in pairs)


class Lanes:
    """The due jobs of each queue, by priority, and by the limits that are about them."""

    def __init__(self, queues: int, bounds: Bounds) -> None:
        """Begin with nothing due."""
        self.due = 0
        self.bounds = bounds
        self._lanes: list[dict[tuple[int, tuple[int, ...]], list[Due]]] = [{} for _ in range(queues)]
        self._gone: set[Due] = set()

    def add(self, queue: int, priority: int, visible: float, job: int) -> None:
        """Have a job due since a moment."""
        place = (-priority, self.bounds.of(job) if self.bounds.limits else ())
        heappush(self._lanes[queue].setdefault(place, []), (visible, job))
        self.due += 1

    def leave(self, visible: float, job: int) -> None:
        """Forget a due job: somebody came late with its lapsed offer, which was good all the same."""
        self._gone.add((visible, job))
        self.due -= 1

    def choose(self, room: int, allowed: dict[int, int]) -> list[int]:
        """Take up to `room` jobs: queues take turns, in a queue the higher priority and the longest due go first.

        `allowed` are the queues that may have only so many.
        """
        chosen: list[int] = []
        queues = [queue for queue, lanes in enumerate(self._lanes) if lanes]
        if len(queues) == 1:
            return self._choose_of(queues[0], min(room, allowed.get(queues[0], room)))
        turn = 1
        while queues and len(chosen) < room:
            queues = [queue for queue in queues if turn <= allowed.get(queue, turn)]
            heads = {queue: head for queue in queues if (head := self._head(queue)) is not None}
            for queue in sorted(heads, key=lambda queue: heads[queue])[: room - len(chosen)]:
                if (job := self._next(queue)) is not None:
                    chosen.append(job)
            queues, turn = list(heads), turn + 1
        return chosen

    def _choose_of(self, queue: int, room: int) -> list[int]:
        chosen: list[int] = []
        while len(chosen) < room and (job := self._next(queue)) is not None:
            chosen.append(job)
        return chosen

    def _head(self, queue: int) -> Due | None:
        lane = self._lane(queue)
        return lane[0] if lane else None

    def _next(self, queue: int) -> int | None:
        """Take the job whose turn it is in a queue, and its room in the limits."""
        lane = self._lane(queue)
        if not lane:
            return None
        _, job = heappop(lane)
        self.bounds.take(job)
        self.due -= 1
        return job

    def _lane(self, queue: int) -> list[Due] | None:
        """Return the lane at whose head that job is."""
        lanes = self._lanes[queue]
        if len(lanes) == 1 and not self._gone and not self.bounds.limits:
            ((place, only),) = lanes.items()
            if not only:
                del lanes[place]
            return only
        best = None
        for place, lane in list(lanes.items()):
            while lane and self._gone and lane[0] in self._gone:
                self._gone.discard(heappop(lane))
            if not lane:
                del lanes[place]
            elif self.bounds.fit(place[1]) and (best is None or (place[0], lane[0]) < best[0]):
                best = ((place[0], lane[0]), lane)
        return best[1] if best else None
