"""Invoke: call worker functions on Lambda."""

import json
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from minutehand.aws.role import region
from minutehand.errors import InvocationError

if TYPE_CHECKING:
    from minutehand.aws.service import Service

# More than the threads of a fan-out.
CONNECTIONS = 64
PATH = "/2015-03-31/functions/{}/invocations"


class LambdaInvoker:
    """Invoke functions by name or ARN; AWS_ENDPOINT_URL_LAMBDA may point to a local endpoint."""

    def __init__(self) -> None:
        """Open nothing; the service is set up at the first call."""
        self._service: Service | None = None
        self._lock = Lock()

    def invoke(self, worker: str, event: dict[str, Any]) -> None:
        """Send the event to Lambda, which answers before the function runs. Raises InvocationError."""
        self._post(worker, "Event", json.dumps(event).encode())

    def check(self, worker: str) -> None:
        """Raise InvocationError if the function cannot be invoked; does not invoke it."""
        self._post(worker, "DryRun", b"")

    def _post(self, worker: str, kind: str, body: bytes) -> None:
        # Imported at the first call: a tick without due jobs invokes nothing.
        from minutehand.aws.service import NoAnswerError

        with self._lock:
            service = self._service = self._service or lambda_service()
        try:
            answer = service.send(
                "POST", PATH.format(quote(worker, safe="")), body, {"X-Amz-Invocation-Type": kind}
            )
        except NoAnswerError as error:
            raise InvocationError(
                f"Lambda at {service.url} did not respond ({error}); a VPC needs a NAT gateway or an endpoint "
                "for lambda"
            ) from error
        if answer.status >= 300:
            raise InvocationError(f"Lambda refused to invoke {worker}: {answer.code}: {answer.message}")


def lambda_service() -> "Service":
    """Return Lambda in the region of the environment."""
    from minutehand.aws.service import Service

    return Service("Lambda", "lambda", region(), connections=CONNECTIONS)
