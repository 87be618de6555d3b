"""The priority of a local Spark, so that a command leaves the processors to a database on the same machine."""

import os
from contextlib import suppress
from pathlib import Path

# A tenth of the weight of other programs. The lowest priority, 19, would stop Spark on a machine that is always busy.
NICE = 10


def lower_priority(session: int) -> None:
    """Lower the priority of a session of processes, and of all that they start. `session` is the id of its leader.

    Linux shares the processors among the sessions first, and only inside a session by the priorities of its processes
    (sched(7), "The autogroup feature"). So the priority of the session is lowered, too, where the kernel has one.
    """
    with suppress(OSError):
        os.setpriority(os.PRIO_PGRP, session, max(NICE, os.getpriority(os.PRIO_PGRP, session)))
    with suppress(OSError):
        group = Path(f"/proc/{session}/autogroup")
        group.write_text(str(max(NICE, int(group.read_text().split()[-1]))))
