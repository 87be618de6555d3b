"""Limits: how many jobs of a scope may be offered or running at the same time. The rules are those of controls.sql."""

from collections.abc import Sequence
from dataclasses import dataclass

from minutehand_pipeline.simulate.names import Names
from minutehand_pipeline.simulate.policy import Limit

# A scope in which jobs are counted: the index of the limit, and the value that it is per.
Scope = tuple[int, str, str, str]
# The index of the limit that every group has without another one.
GROUPS = -1


@dataclass(slots=True)
class Count:
    """A scope's limit, and how many of its jobs are offered or running."""

    scope: Scope
    limit: int
    used: int = 0

    @property
    def full(self) -> bool:
        """Whether no job may be added."""
        return self.used >= self.limit


class Limits:
    """The counts of all scopes."""

    def __init__(self, limits: Sequence[Limit], names: Sequence[Names]) -> None:
        """Store the limits and the names of the jobs; there are none if neither limits nor groups need them."""
        self.active = bool(names) and (bool(limits) or any(each.group for each in names))
        self._limits, self._names = limits, names
        self._counts: dict[Scope, Count] = {}
        self._applying: dict[Names, tuple[Count, ...]] = {}

    def of(self, job: int) -> tuple[Count, ...]:
        """Return the counts of the scopes that a job is in."""
        if not self.active:
            return ()
        names = self._names[job]
        if names not in self._applying:
            self._applying[names] = tuple(self._find(names))
        return self._applying[names]

    def full(self, job: int) -> Count | None:
        """Return a scope of the job that is full, or None."""
        return next((count for count in self.of(job) if count.full), None)

    def add(self, job: int, number: int) -> tuple[Count, ...]:
        """Count a job that is offered (1), or that has ended (-1); return its scopes."""
        counts = self.of(job)
        for count in counts:
            count.used += number
        return counts

    def _find(self, names: Names) -> list[Count]:
        applying = [(number, each) for number, each in enumerate(self._limits) if each.applies(names)]
        # A limit that names a group, a key or a tenant takes the place of the limit per group, key or tenant.
        counted = [
            self._count((number, *each.value(names)), each.limit)
            for number, each in applying
            if not any(other.replaces(each) for _, other in applying)
        ]
        if names.group and not any(each.group or each.per == "group" for _, each in applying):
            counted.append(self._count((GROUPS, names.tenant, names.queue, names.group), 1))
        return counted

    def _count(self, scope: Scope, limit: int) -> Count:
        return self._counts.setdefault(scope, Count(scope, limit))
