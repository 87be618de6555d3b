"""Checks of how the functions are woken and invited: schedule, offers, Lambda's own retries, and the way there."""

from minutehand.doctor.finding import Opinion, judged, ok, problem, skipped, warning
from minutehand.doctor.stack import Stack, bare

EVENT_AGE = 60
EVERY_MINUTE = ("rate(1 minute)", "rate(1 minutes)", "cron(* * * * ? *)")


def offer_ttl(stack: Stack) -> Opinion:
    """Whether an offer outlives the event that carries it."""
    seconds = stack.settings.offer_ttl.total_seconds()
    if seconds <= EVENT_AGE:
        return problem(
            f"offers are good for {seconds:.0f} s, and their events may wait for {EVENT_AGE} s",
            f"set MINUTEHAND_OFFER_TTL (OfferTtl) to more than {EVENT_AGE}, as 120: or jobs are offered twice",
        )
    return ok(f"offers are good for {seconds:.0f} s")


def retries(stack: Stack) -> Opinion:
    """Whether Lambda leaves retrying to the queue."""
    return judged(
        [f"Lambda retries {each.name} {each.retries} times" for each in stack.invoked if each.retries],
        "set EventInvokeConfig: MaximumRetryAttempts: 0: a job comes due again by itself",
        "Lambda retries nothing",
    )


def event_age(stack: Stack) -> Opinion:
    """Whether Lambda drops events that are late."""
    return judged(
        [
            f"Lambda keeps events of {each.name} for {each.event_age} s"
            for each in stack.invoked
            if each.event_age > EVENT_AGE
        ],
        f"set EventInvokeConfig: MaximumEventAgeInSeconds: {EVENT_AGE}: a later invitation finds its offer lapsed",
        f"Lambda drops what waits for more than {EVENT_AGE} s",
    )


def on_failure(stack: Stack) -> Opinion:
    """Whether what Lambda cannot run is kept somewhere."""
    nowhere = [f"{each.name} has no on-failure destination" for each in stack.working if not each.on_failure]
    gone = [
        f"the on-failure queue {bare(arn)} does not exist"
        for arn, depth in stack.failures.items()
        if depth is None
    ]
    return judged(
        nowhere + gone,
        "set EventInvokeConfig: DestinationConfig: OnFailure to an SQS queue, then: sam deploy",
        ", ".join(map(bare, stack.failures)) or "no worker",
    )


def failures(stack: Stack) -> Opinion:
    """Whether there are invocations that Lambda gave up."""
    return judged(
        [f"{depth} in {bare(arn)}" for arn, depth in stack.failures.items() if depth],
        "read why in the messages (aws sqs receive-message), mend it, and purge the queue: the jobs came due again",
        "no invocation was given up",
        warning,
    )


def schedule(stack: Stack) -> Opinion:
    """Whether the dispatcher is woken every minute, at its time or not at all."""
    tick = stack.schedule
    if tick is None:
        return problem(f"there is no schedule {stack.schedule_name}", "deploy the stack again: sam deploy")
    faults = {
        "is disabled": not tick.enabled,
        f"is {tick.expression}, not every minute": tick.expression not in EVERY_MINUTE,
        f"wakes {bare(tick.target)}, not {stack.dispatcher}": bare(tick.target) != stack.dispatcher,
        f"retries {tick.retries} times": tick.retries > 0,
        f"keeps a tick for {tick.event_age} s": tick.event_age > EVENT_AGE,
    }
    return judged(
        [f"{tick.name} {fault}" for fault, there in faults.items() if there],
        f"rate(1 minute), enabled, no retry, an event age of {EVENT_AGE} s, and the dispatcher as target: sam deploy",
        f"{tick.name}: {tick.expression}",
    )


def concurrency(stack: Stack) -> Opinion:
    """Whether Lambda lets as many workers run as capacity invites."""
    off = [
        f"{each.name} has a reserved concurrency of 0: it never runs"
        for each in stack.there
        if each.reserved == 0
    ]
    if off:
        return problem("; ".join(off), "remove it: aws lambda delete-function-concurrency")
    capacity = stack.settings.capacity
    most = {each.name: each.reserved or stack.unreserved for each in stack.working}
    return judged(
        [
            f"{name} can run {room} times at once, and capacity is {capacity}"
            for name, room in most.items()
            if room < capacity
        ],
        "lower MINUTEHAND_CAPACITY (MaxConcurrency), reserve more, or ask AWS for a higher limit: "
        "invitations beyond it wait and lapse",
        f"capacity is {capacity}, the account has {stack.unreserved} unreserved",
        warning,
    )


def reach_database(stack: Stack) -> Opinion:
    """Whether the dispatcher reaches the database from where it runs."""
    reach = stack.reach
    if not reach.database:
        return skipped(f"the dispatcher did not say: {reach.error}")
    if not reach.database.get("ok"):
        return problem(
            f"the dispatcher does not reach the database: {reach.database.get('error')}",
            "see its secret, its subnets and security groups, and whether the server lets it in",
        )
    return ok(f"answered the dispatcher in {reach.database.get('ms')} ms")


def reach_workers(stack: Stack) -> Opinion:
    """Whether the dispatcher reaches Lambda, and may invoke the workers."""
    reach = stack.reach
    if reach.timed_out:
        return problem(
            f"the dispatcher does not come back: {reach.error}",
            "there is no way to Lambda from its subnets: add an interface endpoint for lambda, or a NAT gateway",
        )
    if reach.error:
        return problem(
            f"the dispatcher cannot be asked: {reach.error}", "see its log, and your own permissions"
        )
    bad = {name: str(answer.get("error")) for name, answer in reach.workers.items() if not answer.get("ok")}
    denied = any("AccessDenied" in error for error in bad.values())
    return judged(
        [f"the dispatcher cannot invoke {bare(name)}: {error}" for name, error in bad.items()],
        "allow lambda:InvokeFunction on it in the dispatcher's role"
        if denied
        else "there is no way to Lambda from its subnets: add an interface endpoint for lambda, or a NAT gateway",
        ", ".join(f"{bare(name)} in {answer.get('ms')} ms" for name, answer in reach.workers.items()),
    )
