"""Checks of how functions are invoked: the schedule, offers, Lambda's retries, and the network."""

import re
from collections.abc import Iterable
from itertools import islice

from minutehand.doctor.finding import Opinion, judged, ok, problem, skipped, warning
from minutehand.doctor.stack import Stack, bare

EVENT_AGE = 60
EVERY_MINUTE = ("rate(1 minute)", "rate(1 minutes)", "cron(* * * * ? *)")
# Of mode sleep.
SWEEP = re.compile(r"rate\(\d+ (minutes|hours?)\)")
READ_MESSAGE = 'aws sqs receive-message --queue-url "$(aws sqs get-queue-url --queue-name {} --output text)"'
# Advice has commands for at most so many functions or queues.
MOST_COMMANDS = 10


def offer_ttl(stack: Stack) -> Opinion:
    """Whether an offer lasts longer than its event may wait."""
    seconds = stack.settings.offer_ttl.total_seconds()
    if seconds <= EVENT_AGE:
        return problem(
            f"offers last {seconds:.0f} s, but their events may wait {EVENT_AGE} s",
            f"set MINUTEHAND_OFFER_TTL (OfferTtl) to more than {EVENT_AGE}; otherwise jobs are offered twice",
        )
    return ok(f"offers last {seconds:.0f} s")


def retries(stack: Stack) -> Opinion:
    """Whether Lambda itself retries nothing, because the queue retries."""
    return judged(
        [
            f"Lambda retries {each.name} {each.retries} times"
            for each in stack.invoked_in_time
            if each.retries
        ],
        "set EventInvokeConfig: MaximumRetryAttempts: 0; a job becomes due again by itself",
        "Lambda retries nothing",
    )


def event_age(stack: Stack) -> Opinion:
    """Whether Lambda drops late events."""
    return judged(
        [
            f"Lambda keeps events of {each.name} for {each.event_age} s"
            for each in stack.invoked_in_time
            if each.event_age > EVENT_AGE
        ],
        f"set EventInvokeConfig: MaximumEventAgeInSeconds: {EVENT_AGE}; the offer of a later event has lapsed",
        f"Lambda drops events older than {EVENT_AGE} s",
    )


def on_failure(stack: Stack) -> Opinion:
    """Whether failed invocations are stored in a queue."""
    without = [
        f"{each.name} has no on-failure destination" for each in stack.worker_functions if not each.on_failure
    ]
    missing = [
        f"the on-failure queue {bare(arn)} does not exist"
        for arn, depth in stack.failures.items()
        if depth is None
    ]
    return judged(
        without + missing,
        "set EventInvokeConfig: DestinationConfig: OnFailure to an SQS queue, then: sam deploy",
        ", ".join(map(bare, stack.failures)) or "no worker",
    )


def failures(stack: Stack) -> Opinion:
    """Whether there are failed invocations."""
    failed = {bare(arn): depth for arn, depth in stack.failures.items() if depth}
    return judged(
        [f"{depth} in {name}" for name, depth in failed.items()],
        f"read a message: {_commands(READ_MESSAGE, failed)}; fix its cause, then purge the queue. "
        "The jobs become due again by themselves.",
        "no invocation failed",
        warning,
    )


def schedule(stack: Stack) -> Opinion:
    """Whether the dispatcher is invoked every minute, on time or not at all, or in mode sleep by a sweep."""
    tick = stack.schedule
    if tick is None:
        return problem(
            f"the schedule does not exist: {stack.schedule_name}", "deploy the stack again: sam deploy"
        )
    if stack.sleeps:
        fits, rate = bool(SWEEP.fullmatch(tick.expression)), "a sweep every few hours"
    else:
        fits, rate = tick.expression in EVERY_MINUTE, "every minute"
    faults = {
        "is disabled": not tick.enabled,
        f"is {tick.expression}, not {rate}": not fits,
        f"invokes {bare(tick.target)}, not {stack.dispatcher}": bare(tick.target) != stack.dispatcher,
        f"retries {tick.retries} times": tick.retries > 0,
        f"keeps an event for {tick.event_age} s": tick.event_age > EVENT_AGE,
    }
    return judged(
        [f"{tick.name} {fault}" for fault, present in faults.items() if present],
        f"use {'rate(360 minutes)' if stack.sleeps else 'rate(1 minute)'}, enabled, no retries, event age "
        f"{EVENT_AGE} s, target {stack.dispatcher}: sam deploy",
        f"{tick.name}: {tick.expression}",
    )


def concurrency(stack: Stack) -> Opinion:
    """Whether Lambda can run as many workers as the capacity allows."""
    if off := [each.name for each in stack.existing if each.reserved == 0]:
        return problem(
            "; ".join(f"{name} has a reserved concurrency of 0, so it never runs" for name in off),
            f"remove it: {_commands('aws lambda delete-function-concurrency --function-name {}', off)}",
        )
    capacity = stack.settings.capacity
    most = {each.name: each.reserved or stack.unreserved for each in stack.worker_functions}
    return judged(
        [
            f"{name} can run {room} times at once, but the capacity is {capacity}"
            for name, room in most.items()
            if room < capacity
        ],
        "lower MINUTEHAND_CAPACITY (MaxConcurrency), reserve more, or ask AWS for a higher limit: "
        "offers beyond the limit wait and lapse",
        f"the capacity is {capacity}; the unreserved concurrency of the account is {stack.unreserved}",
        warning,
    )


def reach_database(stack: Stack) -> Opinion:
    """Whether the dispatcher can connect to the database."""
    reach = stack.reach
    if not reach.database:
        return skipped(f"no answer from the dispatcher: {reach.error}")
    if not reach.database.get("ok"):
        return problem(
            f"the dispatcher cannot connect to the database: {reach.database.get('error')}",
            "check its secret, its subnets and security groups, and the server's access rules",
        )
    return ok(f"the dispatcher got an answer in {reach.database.get('ms')} ms")


def reach_workers(stack: Stack) -> Opinion:
    """Whether the dispatcher can connect to Lambda, and may invoke the workers."""
    reach = stack.reach
    if reach.timed_out:
        return problem(
            f"the dispatcher did not answer in time: {reach.error}",
            "its subnets have no route to Lambda: add an interface endpoint for lambda, or a NAT gateway",
        )
    if reach.error:
        return problem(f"the dispatcher failed: {reach.error}", "see its log, and check your permissions")
    bad = {name: str(result.get("error")) for name, result in reach.workers.items() if not result.get("ok")}
    denied = any("AccessDenied" in error for error in bad.values())
    return judged(
        [f"the dispatcher cannot invoke {bare(name)}: {error}" for name, error in bad.items()],
        "allow lambda:InvokeFunction on it in the dispatcher's role"
        if denied
        else "its subnets have no route to Lambda: add an interface endpoint for lambda, or a NAT gateway",
        ", ".join(f"{bare(name)} in {result.get('ms')} ms" for name, result in reach.workers.items()),
    )


def _commands(command: str, names: Iterable[str]) -> str:
    """Return the command for each of the names, separated by semicolons."""
    return "; ".join(command.format(name) for name in islice(names, MOST_COMMANDS))
