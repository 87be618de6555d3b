"""Due jobs, and which of them is next. The rules are those of offer.sql and `minutehand.choose`."""

from collections.abc import Sequence
from heapq import heappop, heappush

from minutehand_pipeline.simulate.limits import Count, Limits, Scope

# The time that counts, which is earlier for a higher priority; when the job became due; its index among the arrivals.
Due = tuple[float, float, int]


class Lanes:
    """The due jobs of each queue, in the order in which they are offered.

    A job of a full scope is set aside until a job of that scope ends; `due` does not count it.
    """

    def __init__(self, queues: int, limits: Limits, step: float) -> None:
        """Start with nothing due. A job that has waited for `step` seconds counts one priority higher."""
        self.due = 0
        # Due jobs of full scopes.
        self.aside = 0
        self.limits = limits
        self._step = step
        self._heaps: list[list[Due]] = [[] for _ in range(queues)]
        self._size = [0] * queues
        self._aside: dict[Scope, list[tuple[Due, int]]] = {}
        # Since when each due job has been; other entries are out of date.
        self._since: dict[int, float] = {}

    def add(self, queue: int, priority: int, visible: float, job: int) -> None:
        """Add a due job."""
        self._since[job] = visible
        self._push(queue, (visible - priority * self._step, visible, job))

    def remove(self, queue: int, job: int) -> None:
        """Remove a due job: a late worker has claimed it with its lapsed offer."""
        del self._since[job]
        self._size[queue] -= 1
        self.due -= 1

    def choose(self, room: int, allowed: dict[int, int]) -> list[int]:
        """Take up to `room` jobs. Queues take turns.

        `allowed` bounds the number of jobs of some queues.
        """
        chosen: list[int] = []
        queues = [queue for queue, size in enumerate(self._size) if size]
        if len(queues) == 1:
            return self.choose_from(queues[0], min(room, allowed.get(queues[0], room)))
        turn = 1
        while queues and len(chosen) < room:
            queues = [queue for queue in queues if turn <= allowed.get(queue, turn)]
            heads = {queue: head for queue in queues if (head := self.head(queue)) is not None}
            for queue in sorted(heads, key=lambda queue: heads[queue][1:])[: room - len(chosen)]:
                # The limits may have no room since the job of another queue was taken.
                chosen += self.choose_from(queue, 1)
            queues, turn = list(heads), turn + 1
        return chosen

    def choose_from(self, queue: int, room: int) -> list[int]:
        """Take up to `room` jobs of a queue, and count them in the limits."""
        return [entry[2] for entry in self._take(queue, room)]

    def choose_alone(self, queue: int, jobs: Sequence[int]) -> bool:
        """Take these jobs of a queue if they are all that may start, and return whether they are."""
        if not self.limits.active and self._size[queue] > len(jobs):
            return False
        taken = self._take(queue, len(jobs) + 1)
        if sorted(entry[2] for entry in taken) == sorted(jobs):
            return True
        for entry in taken:
            self.limits.add(entry[2], -1)
            self._since[entry[2]] = entry[1]
            self._push(queue, entry)
        return False

    def head(self, queue: int) -> Due | None:
        """Return the next job of a queue that may start."""
        heap = self._heaps[queue]
        while heap:
            entry = heap[0]
            if self._since.get(entry[2]) != entry[1]:
                heappop(heap)
            elif self.limits.active and (full := self.limits.full(entry[2])) is not None:
                self._set_aside(queue, full)
            else:
                return entry
        return None

    def release(self, job: int) -> None:
        """Stop counting a job that ended, or whose offer or lease did."""
        for count in self.limits.add(job, -1) if self.limits.active else ():
            self._bring_back(count)

    def _take(self, queue: int, room: int) -> list[Due]:
        taken: list[Due] = []
        while len(taken) < room and (head := self.head(queue)) is not None:
            heappop(self._heaps[queue])
            self.remove(queue, head[2])
            if self.limits.active:
                self.limits.add(head[2], 1)
            taken.append(head)
        return taken

    def _push(self, queue: int, entry: Due) -> None:
        heappush(self._heaps[queue], entry)
        self._size[queue] += 1
        self.due += 1

    def _set_aside(self, queue: int, full: Count) -> None:
        entry = heappop(self._heaps[queue])
        self._size[queue] -= 1
        self.due -= 1
        self.aside += 1
        heappush(self._aside.setdefault(full.scope, []), (entry, queue))
        # It gives the place that it had in its other scopes to the next job there.
        for other in self.limits.of(entry[2]):
            if other is not full:
                self._bring_back(other)

    def _bring_back(self, count: Count) -> None:
        aside = self._aside.get(count.scope)
        if aside and not count.full:
            entry, queue = heappop(aside)
            self.aside -= 1
            self._push(queue, entry)
