"""Bootstrap: run Lambda's runtime client in an execution environment, with what the local server lacks.

That server counts the init as time of the first invocation, knows one region, and drops the trace. A ticket that
travels as the client context brings them; the function sees none of this. Standard library and awslambdaric only.
"""

import json
import os
import site
import sys
import time
from typing import Any

# Begins a line on standard output that is addressed to the emulator.
MARK = "\x1e"


def tell(*words: object) -> None:
    """Send a message to the emulator."""
    os.write(1, f"{MARK}{' '.join(map(str, words))}\n".encode())


def main() -> None:
    """Handle invocations until the process ends."""
    tell("born", os.getpid())
    os.environ.pop("AWS_LAMBDA_FUNCTION_TIMEOUT", None)  # set by the local server, not by Lambda
    for give in (site.setquit, site.setcopyright, site.sethelper):  # omitted by -S
        give()
    from awslambdaric import __main__ as client  # type: ignore[import-not-found]
    from awslambdaric import bootstrap

    make = bootstrap.create_lambda_context

    def create_lambda_context(
        context: str, identity: str, _deadline: int, id: str, _arn: str, *rest: Any
    ) -> Any:
        ticket = json.loads(context)
        os.environ["_X_AMZN_TRACE_ID"] = ticket["trace"]
        tell("began", id)
        deadline = int((time.time() + ticket["timeout"]) * 1000)
        own = json.dumps(ticket["client"]) if ticket["client"] else ""
        return make(own, identity, deadline, id, ticket["arn"], *rest)

    bootstrap.create_lambda_context = create_lambda_context
    client.main(sys.argv)


if __name__ == "__main__":
    main()
