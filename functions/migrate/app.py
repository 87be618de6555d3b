"""The migration's entry point: CloudFormation calls `app.handler` at each deploy and waits for an answer.

The library is imported during the event. If it cannot be imported, this file still answers: otherwise CloudFormation
would wait until its timeout.
"""

import json
from typing import Any
from urllib.request import Request, urlopen


def handler(event: dict[str, Any], context: Any) -> None:
    """Migrate the schema and answer CloudFormation."""
    try:
        from minutehand.functions.migrate import handler as migrate
    except Exception as error:
        respond_without_library(event, error)
    else:
        migrate(event, context)


def respond_without_library(event: dict[str, Any], error: Exception) -> None:
    """Fail the deploy. A stack's deletion succeeds, because it changes nothing in the database."""
    fields = {name: event.get(name, "unknown") for name in ("StackId", "RequestId", "LogicalResourceId")}
    if event.get("RequestType") == "Delete":
        fields |= {"Status": "SUCCESS", "Reason": "the schema and its jobs remain in the database"}
    else:
        reason = (
            f"minutehand's layers cannot be imported ({type(error).__name__}): fix them, then deploy again"
        )
        fields |= {"Status": "FAILED", "Reason": reason}
    fields["PhysicalResourceId"] = "minutehand-schema"
    # The URL is signed for a request without a content type.
    request = Request(event["ResponseURL"], json.dumps(fields).encode(), {"Content-Type": ""}, method="PUT")
    with urlopen(request, timeout=10):
        pass
