"""The fences of the queue, each with a change that removes it. The checker must notice each.

Schedules are not among them: a row lock and the ledger of firings each keep an occurrence from firing twice, so the
removal of one has no effect.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.soak.load import LimitedLoad, Load, SlowLoad

LIBRARY = Path("shared/minutehand")


@dataclass(frozen=True)
class Fence:
    """A text of a file, and the text that takes its place."""

    name: str
    file: str
    text: str
    without: str
    # The promises of which the checker should notice at least one.
    promises: tuple[str, ...]
    # How often the file contains the text.
    times: int = 1
    # The load of the run without it, its duration, and the faults that differ from those of other runs.
    load: type[Load] = Load
    seconds: float = 60.0
    faults: Mapping[str, Any] = field(default_factory=dict)

    def remove(self, root: Path) -> None:
        """Remove the fence from a copy of the tree."""
        path = root / LIBRARY / self.file
        path.write_text(self.changed(path.read_text("utf-8")), "utf-8")

    def changed(self, text: str) -> str:
        """Return the file's text without the fence."""
        assert text.count(self.text) == self.times, (
            f"{self.file} must contain {self.times} times: {self.text}"
        )
        return text.replace(self.text, self.without)


OWNER = "attempts have one owner"
EFFECTS = "effects match endings"
LIMITS = "limits hold"
# A frozen worker goes on while the next attempt runs, which starts after the lease of 3 seconds and a tick.
_of_late_ends = partial(Fence, load=SlowLoad, faults={"frozen": 4.5})
# An offer of 3 seconds ends before its event arrives, and another job takes its place under the limit.
_of_late_events = partial(Fence, load=LimitedLoad, faults={"late": 0.5, "late_by": (31, 60)})

FENCES = (
    _of_late_ends("finish by ack", "sql/flow/finish.sql", " and e.ack in (j.ack, j.prior)", "", (EFFECTS,)),
    _of_late_ends(
        "finish of done jobs by ack",
        "sql/flow/finish_done.sql",
        "j.ack = (%(acks)s::uuid[])[array_position(%(ids)s::uuid[], j.id)] and ",
        "",
        (EFFECTS,),
    ),
    _of_late_ends(
        "release by ack", "sql/flow/release.sql", " and e.ack in (j.ack, j.prior)", "", (OWNER, LIMITS)
    ),
    Fence(
        "claim by ack",
        "sql/flow/claim.sql",
        " and j.ack = o.ack\n   and j.offered is not null and (j.claimed is null or j.offered > j.claimed)",
        "",
        (OWNER,),
    ),
    _of_late_events(
        "lapsed offer under a limit",
        "sql/flow/claim.sql",
        "(j.visible > clock_timestamp() or j.group is null"
        " and not exists (select from minutehand.controls where max_running is not null))",
        "true",
        (LIMITS,),
    ),
    Fence(
        "lock of limits",
        "schema/functions/counting.sql",
        "      order by q.queue\n        for update;",
        "      order by q.queue;",
        (LIMITS,),
    ),
    Fence(
        "attempts left",
        "schema/functions/candidates.sql",
        "select attempts < max_attempts",
        "select true",
        ("attempts are bounded",),
    ),
    Fence(
        "replaced recurrence",
        "schema/functions/jobs.sql",
        "if job.key is not null and exists",
        "if false and exists",
        ("recurrences follow the last enqueue",),
    ),
)
