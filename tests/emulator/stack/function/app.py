"""A function that follows the instructions of its event."""

import os
import sys
import time
from pathlib import Path


def handler(event, context):
    print("did", event.get("do", "echo"))
    return globals()[event.get("do", "echo")](event, context)


def echo(event, context):
    return {
        "event": event,
        "pid": os.getpid(),
        "id": context.aws_request_id,
        "arn": context.invoked_function_arn,
        "name": context.function_name,
        "memory": context.memory_limit_in_mb,
        "left": context.get_remaining_time_in_millis(),
        "environment": dict(os.environ),
    }


def layer(event, context):
    import boto3
    import words

    return [words.__file__, words.WORD, boto3.__file__, *sys.path]


def throw(event, context):
    raise ValueError("no such thing")


def leave(event, context):
    os._exit(9)


def wait(event, context):
    """Report the start, and end when requested."""
    folder = Path(event["folder"])
    (folder / f"{context.aws_request_id}.begun").write_text(str(os.getpid()))
    while not (folder / "go").exists():
        time.sleep(0.01)
    return {"pid": os.getpid(), "left": context.get_remaining_time_in_millis()}


def call(event, context):
    """Invoke itself as many times as the event says."""
    import boto3

    if event["more"]:
        again = f'{{"do": "call", "more": {event["more"] - 1}}}'
        boto3.client("lambda").invoke(
            FunctionName=context.invoked_function_arn, InvocationType="Event", Payload=again
        )


def respond(event, context):
    return {
        "statusCode": 201,
        "headers": {"x-method": event["requestContext"]["http"]["method"]},
        "cookies": ["a=1"],
        "body": f"{event['rawPath']} {event.get('queryStringParameters')} {event.get('body')}",
    }


def large(event, context):
    return "x" * event["bytes"]
