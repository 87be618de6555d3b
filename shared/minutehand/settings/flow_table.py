"""The settings of offers, invocations and wake-ups; see `table`."""

from minutehand.model.worker_route import EXAMPLE, WorkerRoute, parse_worker_routes
from minutehand.settings.declaring import declare, declare_text
from minutehand.settings.kinds import Setting, choice, integer, json_object
from minutehand.settings.processes import CLI, DISPATCHER, EVERYWHERE, WAKING, WORKER

MODE = declare(
    "MINUTEHAND_MODE",
    choice("minute", "prompt", "sleep"),
    "minute",
    "When jobs start: `minute` at a tick, `prompt` after the commit, `sleep` at a tick that was requested for them.",
    *EVERYWHERE,
    CLI,
)
WAKEUP_GROUP = declare_text(
    "MINUTEHAND_WAKEUP_GROUP", "In mode `sleep`: the schedule group of the wake-ups.", *EVERYWHERE, CLI
)
WAKEUP_TARGET = declare_text(
    "MINUTEHAND_WAKEUP_TARGET",
    "In mode `sleep`: the ARN of the dispatcher, which wake-ups invoke.",
    *EVERYWHERE,
    CLI,
)
WAKEUP_ROLE = declare_text(
    "MINUTEHAND_WAKEUP_ROLE",
    "In mode `sleep`: the ARN of the role with which wake-ups invoke it.",
    *EVERYWHERE,
    CLI,
)
CAPACITY = declare(
    "MINUTEHAND_CAPACITY",
    integer(1, 10_000),
    50,
    "Maximum number of jobs that are offered or running at the same time.",
    DISPATCHER,
    CLI,
)
CHUNK = declare(
    "MINUTEHAND_CHUNK", integer(1, 1000), 1, "Maximum number of jobs offered to one invocation.", *WAKING
)
CONCURRENCY = declare(
    "MINUTEHAND_CONCURRENCY",
    integer(1, 1000),
    10,
    "Maximum number of async jobs of a chunk that a worker runs at the same time.",
    WORKER,
    CLI,
)
JOBS_PER_INVOCATION = declare(
    "MINUTEHAND_JOBS_PER_INVOCATION",
    integer(1, 10_000),
    100,
    "Maximum number of jobs of an invocation, with the due jobs that it takes after its own; 1 takes none.",
    WORKER,
)
OFFER_TTL = declare(
    "MINUTEHAND_OFFER_TTL",
    integer(1, 3600, "seconds"),
    120,
    "Time after which an unclaimed offer lapses; must exceed the 60 s an event may wait in Lambda's queue.",
    DISPATCHER,
    CLI,
)
GRACE = declare(
    "MINUTEHAND_GRACE",
    integer(1, 900, "seconds"),
    2,
    "Time from the end of a worker's invocation to the end of its lease.",
    WORKER,
    CLI,
)
WORKER_NAME = declare_text("MINUTEHAND_WORKER", "Name or ARN of the worker function.", *WAKING)
DISPATCHER_NAME = declare_text("MINUTEHAND_DISPATCHER", "Name or ARN of the dispatcher function.", *WAKING)
WORKER_ROUTES: Setting[tuple[WorkerRoute, ...]] = declare(
    "MINUTEHAND_WORKERS",
    json_object(EXAMPLE, parse_worker_routes),
    (),
    f"Other worker functions for some queues or kinds, such as `{EXAMPLE}`; the first match applies.",
    *WAKING,
)
