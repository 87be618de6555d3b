"""Checks of the functions on AWS: that they exist, match their layers, and have valid settings."""

from minutehand.doctor.finding import Opinion, judged
from minutehand.doctor.stack import Function, Stack, bare
from minutehand.errors import ConfigurationError
from minutehand.settings import read_settings

RUNTIMES = ("python3.11", "python3.12", "python3.13", "python3.14")
SHORTEST_TIMEOUT, LONGEST_TIMEOUT = 3, 900
API_TIMEOUT = 30


def functions(stack: Stack) -> Opinion:
    """Whether every function exists and can run."""
    missing = [
        f"the function {name} does not exist" for name, function in stack.functions.items() if not function
    ]
    stopped = [
        f"{function.name} is {function.state}"
        for function in stack.existing
        if function.state not in ("Active", "Inactive")
    ]
    return judged(
        missing + stopped,
        "deploy the stack again: sam deploy",
        ", ".join(function.name for function in stack.existing),
    )


def runtime(stack: Stack) -> Opinion:
    """Whether functions and layers have the same, supported version of Python."""
    old = [f"{each.name} runs {each.runtime}" for each in stack.existing if each.runtime not in RUNTIMES]
    other = [
        f"{each.name} runs {each.runtime}, and its layer {layer.name} is for {', '.join(layer.runtimes)}"
        for each in stack.existing
        if each.runtime in RUNTIMES
        for layer in each.layers
        if layer.runtimes and each.runtime not in layer.runtimes
    ]
    return judged(
        old + other, "set Runtime in template.yaml, then: sam build && sam deploy", _each(stack, "runtime")
    )


def architecture(stack: Stack) -> Opinion:
    """Whether a function's layers are built for its architecture."""
    return judged(
        [
            f"{each.name} is {each.architecture}, and its layer {layer.name} is for {', '.join(layer.architectures)}"
            for each in stack.existing
            for layer in each.layers
            if layer.architectures and each.architecture not in layer.architectures
        ],
        "set the parameter Architecture, then: sam build && sam deploy",
        _each(stack, "architecture"),
    )


def timeouts(stack: Stack) -> Opinion:
    """Whether every function has enough time."""
    complaints = [
        f"{each.name} has a timeout of {each.timeout} s, which leaves no time for a handler"
        for each in stack.worker_functions
        if each.timeout < SHORTEST_TIMEOUT
    ]
    if stack.dispatcher_function and stack.dispatcher_function.timeout < 2 * SHORTEST_TIMEOUT:
        complaints.append(
            f"{stack.dispatcher} has a timeout of {stack.dispatcher_function.timeout} s, which is too short to connect"
        )
    if (api := stack.functions.get(stack.api)) and api.timeout > API_TIMEOUT:
        complaints.append(
            f"{stack.api} has a timeout of {api.timeout} s, but API Gateway waits {API_TIMEOUT} s"
        )
    return judged(complaints, "set Timeout in template.yaml, then: sam deploy", _each(stack, "timeout"))


def variables(stack: Stack) -> Opinion:
    """Whether the functions' environment variables are valid."""
    complaints = [complaint for each in stack.existing for complaint in _variables(each)]
    if stack.dispatcher_function and not stack.dispatcher_function.variables.get("MINUTEHAND_WORKER"):
        complaints.append(f"{stack.dispatcher} has no MINUTEHAND_WORKER, so it cannot invoke a worker")
    return judged(complaints, "correct them in template.yaml, then: sam deploy", "all variables are valid")


def routes(stack: Stack) -> Opinion:
    """Whether every function that the dispatcher invokes exists."""
    workers = stack.settings.workers.workers
    return judged(
        [
            f"the dispatcher's routes lead to {name}, which does not exist"
            for name in workers
            if not stack.functions.get(bare(name))
        ],
        "correct MINUTEHAND_WORKER and MINUTEHAND_WORKERS of the dispatcher, or deploy that worker",
        ", ".join(map(bare, workers)) or "no routes",
    )


def _variables(function: Function) -> list[str]:
    values = function.variables
    complaints = []
    if not values.get("DATABASE_URL") and not values.get("MINUTEHAND_DATABASE_SECRET"):
        complaints.append(f"{function.name} has neither DATABASE_URL nor MINUTEHAND_DATABASE_SECRET")
    if values.get("DATABASE_URL"):
        complaints.append(f"{function.name} has DATABASE_URL in plain text: use MINUTEHAND_DATABASE_SECRET")
    complaints += [
        f"{function.name} has {name}, which points away from AWS"
        for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_LAMBDA")
        if values.get(name)
    ]
    try:
        read_settings(values)
    except ConfigurationError as error:
        complaints.append(f"{function.name}: {error}")
    return complaints


def _each(stack: Stack, fact: str) -> str:
    values = sorted({str(getattr(function, fact)) for function in stack.existing})
    return ", ".join(values) + (" s" if fact == "timeout" else "")
