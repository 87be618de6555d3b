"""Due jobs, and which of them the next tick offers. The rules are those of offer.sql and `minutehand.choose`."""

from collections.abc import Sequence
from heapq import heappop, heappush

from minutehand_pipeline.simulate.policy import Limit

# When the job became visible, and its index among the arrivals.
Due = tuple[float, int]
Names = tuple[str, str, str]


class Limits:
    """How many more jobs each limit allows."""

    def __init__(self, limits: Sequence[Limit], names: Sequence[Names]) -> None:
        """Store the limits and the names of the jobs."""
        self.limits = limits
        self._free = [each.limit for each in limits]
        self._applying: dict[Names, tuple[int, ...]] = {}
        self._names = names

    def of(self, job: int) -> tuple[int, ...]:
        """Return the indexes of the limits that apply to a job."""
        if not self.limits:
            return ()
        names = self._names[job]
        if names not in self._applying:
            applying = (index for index, limit in enumerate(self.limits) if _applies(limit, names))
            self._applying[names] = tuple(applying)
        return self._applying[names]

    def allow(self, indexes: tuple[int, ...]) -> bool:
        """Whether each of these limits allows one more job."""
        return all(self._free[index] > 0 for index in indexes)

    def take(self, job: int) -> None:
        """Count a job that is offered."""
        for index in self.of(job) if self.limits else ():
            self._free[index] -= 1

    def release(self, job: int) -> None:
        """Stop counting a job that ended, or whose offer or lease did."""
        for index in self.of(job) if self.limits else ():
            self._free[index] += 1


def _applies(limit: Limit, names: Names) -> bool:
    pairs = zip((limit.queue, limit.kind, limit.key), names, strict=True)
    return all(wanted in ("", found) for wanted, found in pairs)


class Lanes:
    """The due jobs of each queue, by priority and by the limits that apply to them."""

    def __init__(self, queues: int, limits: Limits) -> None:
        """Start with nothing due."""
        self.due = 0
        self.limits = limits
        self._lanes: list[dict[tuple[int, tuple[int, ...]], list[Due]]] = [{} for _ in range(queues)]
        self._removed: set[Due] = set()

    def add(self, queue: int, priority: int, visible: float, job: int) -> None:
        """Add a due job."""
        lane = (-priority, self.limits.of(job) if self.limits.limits else ())
        heappush(self._lanes[queue].setdefault(lane, []), (visible, job))
        self.due += 1

    def remove(self, visible: float, job: int) -> None:
        """Remove a due job: a late worker has claimed it with its lapsed offer."""
        self._removed.add((visible, job))
        self.due -= 1

    def choose(self, room: int, allowed: dict[int, int]) -> list[int]:
        """Take up to `room` jobs. Queues take turns; in a queue, priority comes first and then the longest due.

        `allowed` bounds the number of jobs of some queues.
        """
        chosen: list[int] = []
        queues = [queue for queue, lanes in enumerate(self._lanes) if lanes]
        if len(queues) == 1:
            return self._choose_from(queues[0], min(room, allowed.get(queues[0], room)))
        turn = 1
        while queues and len(chosen) < room:
            queues = [queue for queue in queues if turn <= allowed.get(queue, turn)]
            heads = {queue: head for queue in queues if (head := self._head(queue)) is not None}
            for queue in sorted(heads, key=lambda queue: heads[queue])[: room - len(chosen)]:
                if (job := self._next(queue)) is not None:
                    chosen.append(job)
            queues, turn = list(heads), turn + 1
        return chosen

    def _choose_from(self, queue: int, room: int) -> list[int]:
        chosen: list[int] = []
        while len(chosen) < room and (job := self._next(queue)) is not None:
            chosen.append(job)
        return chosen

    def _head(self, queue: int) -> Due | None:
        lane = self._best_lane(queue)
        return lane[0] if lane else None

    def _next(self, queue: int) -> int | None:
        """Take a queue's next job, and count it in the limits."""
        lane = self._best_lane(queue)
        if not lane:
            return None
        _, job = heappop(lane)
        self.limits.take(job)
        self.due -= 1
        return job

    def _best_lane(self, queue: int) -> list[Due] | None:
        """Return the lane whose head is the queue's next job."""
        lanes = self._lanes[queue]
        if len(lanes) == 1 and not self._removed and not self.limits.limits:
            ((key, only),) = lanes.items()
            if not only:
                del lanes[key]
            return only
        best = None
        for key, lane in list(lanes.items()):
            while lane and self._removed and lane[0] in self._removed:
                self._removed.discard(heappop(lane))
            if not lane:
                del lanes[key]
            elif self.limits.allow(key[1]) and (best is None or (key[0], lane[0]) < best[0]):
                best = ((key[0], lane[0]), lane)
        return best[1] if best else None
