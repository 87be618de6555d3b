"""Invoke API: Lambda's Invoke API for boto3."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

from emulator.invocation import Invocation, Refused, Result, new_trace
from minutehand.local.lambda_endpoint import Call, Reply, refusal

ARN = re.compile(
    r"(?:arn:aws[a-z-]*:lambda:[a-z0-9-]+:)?(?:\d{12}:)?(?:function:)?([A-Za-z0-9_-]+)(?::([^:]+))?"
)
MAX_PAYLOAD = {"RequestResponse": 6 * 1024 * 1024, "Event": 1024 * 1024}
LOG_TAIL = 4096


class InvokeApi:
    """Validate Invoke calls like Lambda, and run them."""

    def __init__(
        self,
        find: Callable[[str], str | None],
        invoke: Callable[[Invocation], Result],
        accept: Callable[[Invocation], None],
    ) -> None:
        """`find` returns the logical id of a name; `invoke` runs an invocation, `accept` queues it."""
        self._find, self._invoke, self._accept = find, invoke, accept

    def handle(self, call: Call) -> Reply:
        """Reply to a call."""
        try:
            return self._handle(call)
        except Refused as refused:
            return refusal(refused.status, refused.name, refused.message, refused.reason)

    def _handle(self, call: Call) -> Reply:
        function = self._known(call)
        if call.kind == "DryRun":
            return Reply(status=204)
        if (limit := MAX_PAYLOAD.get(call.kind)) is None:
            raise Refused(400, "InvalidParameterValueException", f"InvocationType must not be {call.kind}.")
        if len(call.payload) > limit:
            raise Refused(
                413,
                "RequestTooLargeException",
                f"Request must be smaller than {limit} bytes for the InvokeFunction operation",
            )
        invocation = _invocation(call, function)
        if call.kind == "Event":
            self._accept(invocation)
            return Reply(status=202, headers={"x-amzn-RequestId": invocation.id})
        return _reply(self._invoke(invocation), call)

    def _known(self, call: Call) -> str:
        named = ARN.fullmatch(call.function)
        function = self._find(named[1]) if named else None
        qualifier = call.qualifier or (named[2] if named else None) or "$LATEST"
        if function is None or qualifier != "$LATEST":
            raise Refused(404, "ResourceNotFoundException", f"Function not found: {call.function}")
        return function


def _invocation(call: Call, function: str) -> Invocation:
    payload = call.payload or b"{}"
    try:
        json.loads(payload)
    except ValueError:
        message = "Could not parse request body into json"
        raise Refused(400, "InvalidRequestContentException", message) from None
    return Invocation(
        function=function,
        payload=payload,
        event=call.kind == "Event",
        trace=call.headers.get("x-amzn-trace-id") or new_trace(),
        client_context=_client_context(call.headers.get("x-amz-client-context")),
    )


def _client_context(header: str | None) -> dict[str, Any] | None:
    if not header:
        return None
    try:
        context = json.loads(b64decode(header))
    except ValueError:
        message = "Client context must be a valid Base64-encoded JSON object."
        raise Refused(400, "InvalidRequestContentException", message) from None
    return context if isinstance(context, dict) else None


def _reply(result: Result, call: Call) -> Reply:
    headers = {"X-Amz-Executed-Version": "$LATEST", "x-amzn-RequestId": result.id}
    if result.error is not None:
        headers["X-Amz-Function-Error"] = result.error
    if call.headers.get("x-amz-log-type") == "Tail":
        tail = "\n".join(result.log).encode()[-LOG_TAIL:]
        headers["X-Amz-Log-Result"] = b64encode(tail).decode()
    return Reply(status=result.status, payload=result.payload, headers=headers)
