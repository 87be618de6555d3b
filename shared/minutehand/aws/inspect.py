"""Inspect a stack on AWS for the doctor, and let the dispatcher test its connections."""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    NoRegionError,
    ReadTimeoutError,
)

from minutehand.doctor.stack import PARTS, Function, Layer, Reach, Schedule, Stack, bare
from minutehand.errors import ConfigurationError, MinutehandError
from minutehand.settings import read_worker_routes

# Seconds; a dispatcher without a route to Lambda hangs.
PATIENCE = 30
QUICK = Config(connect_timeout=5, read_timeout=10, retries={"mode": "standard", "max_attempts": 3})
PATIENT = Config(connect_timeout=5, read_timeout=PATIENCE, retries={"total_max_attempts": 1})
ABSENT = {"ResourceNotFoundException", "AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"}
FORBIDDEN = {"AccessDeniedException"}

Response = TypeVar("Response")


class InspectionError(MinutehandError):
    """Reading from AWS failed."""


def inspect_stack(stack: str, names: dict[str, str]) -> Stack:
    """Read a stack by its name, or by that of the project whose template contains it.

    `names` contains names of functions that differ from the template's: dispatcher, worker, api.
    """
    try:
        queue = stack if "dispatcher" in names else _queue_stack(stack)
        return _read(queue, {part: names.get(part) or f"{queue}-{part}" for part in PARTS})
    except NoRegionError:
        raise ConfigurationError("AWS_REGION is not set; set it to a region, such as eu-west-1") from None
    except (ClientError, BotoCoreError) as error:
        raise InspectionError(f"reading from AWS failed: {error}") from error


def _queue_stack(stack: str) -> str:
    """Return the name of the nested stack that has the dispatcher, or this name if it has one or none is found."""
    if _has_dispatcher(stack):
        return stack
    return next(filter(_has_dispatcher, _nested_stacks(stack)), stack)


def _has_dispatcher(stack: str) -> bool:
    name = f"{stack}-dispatcher"
    return _unless_absent(lambda: _client("lambda").get_function_configuration(FunctionName=name)) is not None


def _nested_stacks(stack: str) -> list[str]:
    """Return the names of the stacks that a stack contains; none if it does not exist."""
    pages = _client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack)
    # Nothing else of this request can be invalid. Without the permission, the checks report missing functions.
    resources = _unless_absent(
        lambda: [each for page in pages for each in page["StackResourceSummaries"]],
        {"ValidationError", "AccessDenied"} | FORBIDDEN,
    )
    arns = (
        each.get("PhysicalResourceId", "")
        for each in resources or ()
        if each["ResourceType"] == "AWS::CloudFormation::Stack"
    )
    return [arn.split("/")[1] for arn in arns if "/" in arn]


def _read(stack: str, named: dict[str, str]) -> Stack:
    workers = (named["worker"], *_further_workers(f"{named['worker']}-"))
    functions = {name: _function(name) for name in (named["dispatcher"], *workers, named["api"])}
    dispatcher = functions[named["dispatcher"]]
    routed = _routed_workers(dispatcher)
    functions |= {name: _function(name) for name in routed if name not in functions}
    workers = tuple(dict.fromkeys([*workers, *routed]))
    queues = [f.on_failure for name in workers if (f := functions[name]) and ":sqs:" in f.on_failure]
    return Stack(
        dispatcher=named["dispatcher"],
        workers=workers,
        api=named["api"],
        functions=functions,
        schedule_name=f"{stack}-tick",
        # The second one is that of mode sleep.
        schedule=_schedule(stack, f"{stack}-tick") or _schedule(stack, f"{stack}-sweep"),
        unreserved=_client("lambda").get_account_settings()["AccountLimit"]["UnreservedConcurrentExecutions"],
        failures={queue: _depth(queue) for queue in dict.fromkeys(queues)},
        reach=_reach(named["dispatcher"]) if dispatcher else Reach(error="no dispatcher function"),
    )


@cache
def _client(service: str, waiting: bool = False) -> Any:
    return boto3.client(service, config=PATIENT if waiting else QUICK)  # type: ignore[call-overload]


def _unless_absent(request: Callable[[], Response], absent: set[str] = ABSENT) -> Response | None:
    try:
        return request()
    except ClientError as error:
        if error.response["Error"]["Code"] in absent:
            return None
        raise


def _further_workers(prefix: str) -> list[str]:
    """Return the names of further workers."""
    pages = _client("lambda").get_paginator("list_functions").paginate()
    names = (function["FunctionName"] for page in pages for function in page["Functions"])
    return sorted(name for name in names if name.startswith(prefix))


def _routed_workers(dispatcher: Function | None) -> list[str]:
    """Return the names of the functions that the dispatcher's routes lead to."""
    try:
        workers = read_worker_routes(dispatcher.variables).workers if dispatcher else ()
    except ConfigurationError:
        return []
    return [bare(worker) for worker in workers]


def _function(name: str) -> Function | None:
    facts = _unless_absent(lambda: _client("lambda").get_function_configuration(FunctionName=name))
    if facts is None:
        return None
    invoked = _event_invoke_config(name)
    destination = invoked.get("DestinationConfig", {}).get("OnFailure", {}).get("Destination", "")
    return Function(
        name=name,
        state=facts.get("State", "Active"),
        runtime=facts.get("Runtime", "an image"),
        architecture=facts.get("Architectures", ["x86_64"])[0],
        timeout=facts["Timeout"],
        layers=tuple(_layer(layer["Arn"]) for layer in facts.get("Layers", [])),
        variables=facts.get("Environment", {}).get("Variables", {}),
        reserved=_client("lambda")
        .get_function_concurrency(FunctionName=name)
        .get("ReservedConcurrentExecutions"),
        retries=invoked.get("MaximumRetryAttempts", 2),
        event_age=invoked.get("MaximumEventAgeInSeconds", 21600),
        on_failure=destination,
    )


def _event_invoke_config(name: str) -> dict[str, Any]:
    """Return the asynchronous configuration of the function's alias, if there is one, or of the function."""
    response = _client("lambda").list_function_event_invoke_configs(FunctionName=name)
    found: list[dict[str, Any]] = response["FunctionEventInvokeConfigs"]
    suffixes = (f":{name}", f":{name}:$LATEST")
    return min(found, key=lambda config: config["FunctionArn"].endswith(suffixes), default={})


def _layer(arn: str) -> Layer:
    """Return what a layer is built for; a layer of another account may be unreadable."""
    name, _, number = arn.rpartition(":")
    facts = _unless_absent(
        lambda: _client("lambda").get_layer_version(LayerName=name, VersionNumber=int(number)),
        ABSENT | FORBIDDEN,
    )
    if facts is None:
        return Layer(name.rpartition(":")[2])
    return Layer(
        name.rpartition(":")[2],
        tuple(facts.get("CompatibleArchitectures", [])),
        tuple(facts.get("CompatibleRuntimes", [])),
    )


def _schedule(group: str, name: str) -> Schedule | None:
    facts = _unless_absent(lambda: _client("scheduler").get_schedule(GroupName=group, Name=name))
    if facts is None:
        return None
    retry = facts["Target"].get("RetryPolicy", {})
    return Schedule(
        name=name,
        enabled=facts["State"] == "ENABLED",
        expression=facts["ScheduleExpression"],
        target=facts["Target"]["Arn"],
        retries=retry.get("MaximumRetryAttempts", 185),
        event_age=retry.get("MaximumEventAgeInSeconds", 86400),
    )


def _depth(arn: str) -> int | None:
    """Return the number of messages in a queue; None if it does not exist."""
    owner, name = arn.split(":")[4:6]
    url = _unless_absent(lambda: _client("sqs").get_queue_url(QueueName=name, QueueOwnerAWSAccountId=owner))
    if url is None:
        return None
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counts = _client("sqs").get_queue_attributes(QueueUrl=url["QueueUrl"], AttributeNames=names)["Attributes"]
    return sum(int(count) for count in counts.values())


def _reach(dispatcher: str) -> Reach:
    """Let the dispatcher test its connections; this makes no tick."""
    try:
        response = _client("lambda", waiting=True).invoke(FunctionName=dispatcher, Payload=b'{"check": true}')
        result = json.loads(response["Payload"].read())
    except (ReadTimeoutError, ConnectTimeoutError):
        return Reach(error=f"no answer in {PATIENCE} s", timed_out=True)
    except (ClientError, ValueError) as error:
        return Reach(error=str(error))
    if "FunctionError" in response:
        failure = str(result.get("errorMessage", "it failed"))
        return Reach(error=failure, timed_out="timed out" in failure.lower())
    return Reach(database=result.get("database", {}), workers=result.get("workers", {}))
