"""Bootstrap: run Lambda's runtime client in an execution environment, with features that the local server lacks.

The local server counts the init as part of the first invocation, supports one region, and drops the trace. The emulator
sends the real values in the client context, which the function does not see. Imports only the standard library and
awslambdaric.
"""

import json
import os
import site
import sys
import time
from typing import Any

# Starts a line on standard output that is a message to the emulator.
MARK = "\x1e"


def send(*words: object) -> None:
    """Send a message to the emulator."""
    os.write(1, f"{MARK}{' '.join(map(str, words))}\n".encode())


def main() -> None:
    """Handle invocations until the process ends."""
    send("started", os.getpid())
    # The local server sets this variable, Lambda does not.
    os.environ.pop("AWS_LAMBDA_FUNCTION_TIMEOUT", None)
    # Python's option -S skips these.
    for define in (site.setquit, site.setcopyright, site.sethelper):
        define()
    from awslambdaric import __main__ as client  # type: ignore[import-not-found]
    from awslambdaric import bootstrap

    make = bootstrap.create_lambda_context

    def create_lambda_context(
        context: str, identity: str, _deadline: int, id: str, _arn: str, *rest: Any
    ) -> Any:
        ticket = json.loads(context)
        os.environ["_X_AMZN_TRACE_ID"] = ticket["trace"]
        send("began", id)
        deadline = int((time.time() + ticket["timeout"]) * 1000)
        client_context = json.dumps(ticket["client"]) if ticket["client"] else ""
        return make(client_context, identity, deadline, id, ticket["arn"], *rest)

    bootstrap.create_lambda_context = create_lambda_context
    client.main(sys.argv)


if __name__ == "__main__":
    main()
