"""Variables: the environment of the functions of a local run."""

import os
from hashlib import sha256
from pathlib import Path
from socket import gethostname

from minutehand.local.plan import Plan
from minutehand.settings.table import (
    CAPACITY,
    CHUNK,
    HANDLERS,
    HOOKS,
    HTTP_ALLOW,
    MIDDLEWARE,
    OFFER_TTL,
    SCHEDULES,
    SOURCE,
)

AWS = ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


def variables(plan: Plan, url: str, receiver: str, signing: str) -> dict[str, str]:
    """Return the variables, with those of this process before the values of the project's files.

    The functions use the database at `url`, and may deliver to the address `receiver`, with the secret `signing`.
    """
    project, allowed = plan.configuration, receiver.removeprefix("http://")
    return {
        "DATABASE_URL": url,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(plan.root), os.environ.get("PYTHONPATH")])),
        # The option --handlers takes precedence over the environment.
        HANDLERS.name: ",".join(project.handlers) or HANDLERS.text(),
        MIDDLEWARE.name: MIDDLEWARE.text() or project.middleware,
        SCHEDULES.name: SCHEDULES.text() or project.schedules,
        # The database may have the schedules of a stack, or of another folder.
        SOURCE.name: SOURCE.text() or _source(plan.root.resolve()),
        HOOKS.name: HOOKS.text() or ",".join(project.hooks),
        "MINUTEHAND_LOCAL": "1",
        "MINUTEHAND_WORKER": "worker",
        "MINUTEHAND_DISPATCHER": "dispatcher",
        OFFER_TTL.name: OFFER_TTL.text() or "15",
        # Without a worker, an offer would lapse and reduce the budget of its queue.
        CAPACITY.name: CAPACITY.text() or str(plan.workers * CHUNK.read()),
        "MINUTEHAND_HTTP_SECRETS": signing,
        HTTP_ALLOW.name: ",".join(filter(None, [HTTP_ALLOW.text(), allowed])),
        **dict.fromkeys(AWS, "local"),
        "POWERTOOLS_TRACE_DISABLED": "1",
    }


def _source(root: Path) -> str:
    """Return the source of a folder's schedules and limits: folders of other machines may have the same name."""
    checksum = sha256(f"{gethostname()}:{root}".encode(errors="replace")).hexdigest()
    return f"dev {root.name[:50]} {checksum[:8]}"
