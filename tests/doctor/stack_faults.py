"""Faults of a stack, and the check that finds each."""

from collections.abc import Callable
from typing import Any

from botocore.exceptions import ReadTimeoutError

from tests.doctor.account import WELL, Account, arn_of, ill

# By fault: the check that finds it, its verdict, a part of its message, and a function that causes the fault.
STACK_FAULTS: dict[str, tuple[str, str, str, Callable[[Account], Any]]] = {
    "no api": (
        "functions",
        "problem",
        "the function shop-api does not exist",
        lambda a: a.awslambda.delete_function(FunctionName="shop-api"),
    ),
    "an old runtime": (
        "runtime",
        "problem",
        "shop-api runs python3.9",
        lambda a: a.configure("shop-api", Runtime="python3.9"),
    ),
    "a layer for another runtime": (
        "runtime",
        "problem",
        "its layer other is for python3.11",
        lambda a: a.add_layer("other", CompatibleRuntimes=["python3.11"]),
    ),
    "a layer for another processor": (
        "architecture",
        "problem",
        "its layer intel is for x86_64",
        lambda a: a.add_layer("intel", CompatibleArchitectures=["x86_64"]),
    ),
    "a short worker timeout": (
        "timeouts",
        "problem",
        "shop-worker has a timeout of 1 s",
        lambda a: a.configure("shop-worker", Timeout=1),
    ),
    "a short dispatcher timeout": (
        "timeouts",
        "problem",
        "shop-dispatcher has a timeout of 3 s",
        lambda a: a.configure("shop-dispatcher", Timeout=3),
    ),
    "a long api timeout": (
        "timeouts",
        "problem",
        "API Gateway waits 30 s",
        lambda a: a.configure("shop-api", Timeout=60),
    ),
    "no database": (
        "variables",
        "problem",
        "shop-worker has neither DATABASE_URL nor",
        lambda a: a.variables("shop-worker", MINUTEHAND_DATABASE_SECRET="", X="1"),
    ),
    "a password in plain text": (
        "variables",
        "problem",
        "shop-worker has DATABASE_URL in plain text",
        lambda a: a.variables("shop-worker", DATABASE_URL="postgresql://a:hunter2@h/d"),
    ),
    "an endpoint outside AWS": (
        "variables",
        "problem",
        "which points away from AWS",
        lambda a: a.variables("shop-dispatcher", AWS_ENDPOINT_URL_LAMBDA="http://h:9001"),
    ),
    "a grace that is not a number": (
        "variables",
        "problem",
        "MINUTEHAND_GRACE must be an integer",
        lambda a: a.variables("shop-worker", MINUTEHAND_GRACE="long"),
    ),
    "routes that are not JSON": (
        "variables",
        "problem",
        "MINUTEHAND_WORKERS must be a JSON object",
        lambda a: a.variables("shop-dispatcher", MINUTEHAND_WORKERS="["),
    ),
    "no worker to invoke": (
        "variables",
        "problem",
        "shop-dispatcher has no MINUTEHAND_WORKER",
        lambda a: a.variables("shop-dispatcher", MINUTEHAND_WORKER=""),
    ),
    "a short offer": (
        "offer-ttl",
        "problem",
        "offers last 60 s",
        lambda a: a.variables("shop-dispatcher", MINUTEHAND_OFFER_TTL="60"),
    ),
    "worker retries": (
        "retries",
        "problem",
        "Lambda retries shop-worker-reports 2 times",
        lambda a: a.invoked("shop-worker-reports", MaximumRetryAttempts=2),
    ),
    "dispatcher retries": (
        "retries",
        "problem",
        "Lambda retries shop-dispatcher 1 times",
        lambda a: a.invoked("shop-dispatcher", MaximumRetryAttempts=1),
    ),
    "late events": (
        "event-age",
        "problem",
        "Lambda keeps events of shop-worker for 90 s",
        lambda a: a.invoked("shop-worker", MaximumEventAgeInSeconds=90),
    ),
    "no destination": (
        "on-failure",
        "problem",
        "shop-worker has no on-failure destination",
        lambda a: (
            a.awslambda.delete_function_event_invoke_config(FunctionName="shop-worker"),
            a.awslambda.put_function_event_invoke_config(
                FunctionName="shop-worker", MaximumRetryAttempts=0, MaximumEventAgeInSeconds=60
            ),
        ),
    ),
    "no queue": (
        "on-failure",
        "problem",
        "the on-failure queue shop-failures does not exist",
        lambda a: a.sqs.delete_queue(QueueUrl=a.failures),
    ),
    "stored failures": (
        "failures",
        "warning",
        "2 in shop-failures",
        lambda a: [a.sqs.send_message(QueueUrl=a.failures, MessageBody="{}") for _ in range(2)],
    ),
    "no schedule": (
        "schedule",
        "problem",
        "the schedule does not exist: shop-tick",
        lambda a: a.scheduler.delete_schedule(GroupName="shop", Name="shop-tick"),
    ),
    "a disabled schedule": (
        "schedule",
        "problem",
        "shop-tick is disabled",
        lambda a: a.schedule(State="DISABLED"),
    ),
    "a schedule every 5 minutes": (
        "schedule",
        "problem",
        "is rate(5 minutes), not every minute",
        lambda a: a.schedule(ScheduleExpression="rate(5 minutes)"),
    ),
    "a schedule with another target": (
        "schedule",
        "problem",
        "invokes shop-api, not shop-dispatcher",
        lambda a: a.schedule(Target={"Arn": arn_of("shop-api")}),
    ),
    "schedule retries": (
        "schedule",
        "problem",
        "retries 3 times",
        lambda a: a.schedule(
            Target={"RetryPolicy": {"MaximumRetryAttempts": 3, "MaximumEventAgeInSeconds": 60}}
        ),
    ),
    "late schedule events": (
        "schedule",
        "problem",
        "keeps an event for 600 s",
        lambda a: a.schedule(
            Target={"RetryPolicy": {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 600}}
        ),
    ),
    "low reserved concurrency": (
        "concurrency",
        "warning",
        "shop-worker can run 10 times at once, but the capacity is 50",
        lambda a: a.awslambda.put_function_concurrency(
            FunctionName="shop-worker", ReservedConcurrentExecutions=10
        ),
    ),
    "no reserved concurrency": (
        "concurrency",
        "problem",
        "shop-dispatcher has a reserved concurrency of 0",
        lambda a: a.awslambda.put_function_concurrency(
            FunctionName="shop-dispatcher", ReservedConcurrentExecutions=0
        ),
    ),
    "a low account limit": (
        "concurrency",
        "warning",
        "can run 10 times at once",
        lambda a: setattr(a, "unreserved", 10),
    ),
    "an unreachable database": (
        "reach-database",
        "problem",
        "no route",
        lambda a: a.answers(database=ill("UnreachableError: no route"), workers={}),
    ),
    "no permission to invoke": (
        "reach-workers",
        "problem",
        "cannot invoke shop-worker: ClientError: AccessDenied",
        lambda a: a.answers(database=WELL, workers={"shop-worker": ill("ClientError: AccessDenied")}),
    ),
    "no route to Lambda": (
        "reach-workers",
        "problem",
        "ConnectTimeoutError",
        lambda a: a.answers(database=WELL, workers={"shop-worker": ill("ConnectTimeoutError")}),
    ),
    "a dispatcher that hangs": (
        "reach-workers",
        "problem",
        "no answer in 30 s",
        lambda a: setattr(a, "answer", ReadTimeoutError(endpoint_url="lambda")),
    ),
    "a dispatcher that is killed": (
        "reach-workers",
        "problem",
        "Task timed out after 60.00 seconds",
        lambda a: a.answers(error="Task timed out after 60.00 seconds"),
    ),
    "a dispatcher that fails": (
        "reach-workers",
        "problem",
        "the dispatcher failed: no module",
        lambda a: a.answers(error="no module"),
    ),
}
