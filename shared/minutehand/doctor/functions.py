"""Checks of the functions on AWS: that they are there, and fit each other and what they are told."""

from minutehand.doctor.finding import Opinion, judged
from minutehand.doctor.stack import Function, Stack, bare
from minutehand.errors import ConfigurationError
from minutehand.settings import read_settings

RUNTIMES = ("python3.11", "python3.12", "python3.13", "python3.14")
SHORTEST_TIMEOUT, LONGEST_TIMEOUT = 3, 900
API_TIMEOUT = 30


def functions(stack: Stack) -> Opinion:
    """Whether every function is there and can run."""
    missing = [f"there is no function {name}" for name, function in stack.functions.items() if not function]
    asleep = [
        f"{function.name} is {function.state}"
        for function in stack.there
        if function.state not in ("Active", "Inactive")
    ]
    return judged(
        missing + asleep,
        "deploy the stack again: sam deploy",
        ", ".join(function.name for function in stack.there),
    )


def runtime(stack: Stack) -> Opinion:
    """Whether functions and layers are for one Python, which Lambda supports."""
    old = [f"{each.name} runs {each.runtime}" for each in stack.there if each.runtime not in RUNTIMES]
    other = [
        f"{each.name} runs {each.runtime}, and its layer {layer.name} is for {', '.join(layer.runtimes)}"
        for each in stack.there
        if each.runtime in RUNTIMES
        for layer in each.layers
        if layer.runtimes and each.runtime not in layer.runtimes
    ]
    return judged(
        old + other, "set Runtime in template.yaml, then: sam build && sam deploy", _each(stack, "runtime")
    )


def architecture(stack: Stack) -> Opinion:
    """Whether a function's layers are built for its processor."""
    return judged(
        [
            f"{each.name} is {each.architecture}, and its layer {layer.name} is for {', '.join(layer.architectures)}"
            for each in stack.there
            for layer in each.layers
            if layer.architectures and each.architecture not in layer.architectures
        ],
        "set the parameter Architecture, then: sam build && sam deploy",
        _each(stack, "architecture"),
    )


def timeouts(stack: Stack) -> Opinion:
    """Whether every function has the time that it needs."""
    complaints = [
        f"{each.name} has {each.timeout} s, of which nothing is left for a handler"
        for each in stack.working
        if each.timeout < SHORTEST_TIMEOUT
    ]
    if stack.dispatching and stack.dispatching.timeout < 2 * SHORTEST_TIMEOUT:
        complaints.append(
            f"{stack.dispatcher} has {stack.dispatching.timeout} s, less than it needs to connect"
        )
    if (api := stack.functions.get(stack.api)) and api.timeout > API_TIMEOUT:
        complaints.append(f"{stack.api} has {api.timeout} s, but API Gateway waits for {API_TIMEOUT}")
    return judged(complaints, "set Timeout in template.yaml, then: sam deploy", _each(stack, "timeout"))


def variables(stack: Stack) -> Opinion:
    """Whether the functions' environment makes sense."""
    complaints = [complaint for each in stack.there for complaint in _variables(each)]
    if stack.dispatching and not stack.dispatching.variables.get("MINUTEHAND_WORKER"):
        complaints.append(f"{stack.dispatcher} has no MINUTEHAND_WORKER: it has nobody to invoke")
    return judged(complaints, "set them in template.yaml, then: sam deploy", "the environments make sense")


def routes(stack: Stack) -> Opinion:
    """Whether every function that the dispatcher is to invoke exists."""
    invited = stack.settings.workers.workers
    return judged(
        [
            f"the dispatcher's routes lead to {name}, which is no function"
            for name in invited
            if not stack.functions.get(bare(name))
        ],
        "correct MINUTEHAND_WORKER and MINUTEHAND_WORKERS of the dispatcher, or deploy that worker",
        ", ".join(map(bare, invited)) or "no routes",
    )


def _variables(function: Function) -> list[str]:
    said = function.variables
    complaints = []
    if not said.get("DATABASE_URL") and not said.get("MINUTEHAND_DATABASE_SECRET"):
        complaints.append(f"{function.name} has neither DATABASE_URL nor MINUTEHAND_DATABASE_SECRET")
    if said.get("DATABASE_URL"):
        complaints.append(
            f"{function.name} has DATABASE_URL in the open: keep it in MINUTEHAND_DATABASE_SECRET"
        )
    complaints += [
        f"{function.name} has {name}, which leads away from AWS"
        for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_LAMBDA")
        if said.get(name)
    ]
    try:
        read_settings(said)
    except ConfigurationError as error:
        complaints.append(f"{function.name}: {error}")
    return complaints


def _each(stack: Stack, fact: str) -> str:
    values = sorted({str(getattr(function, fact)) for function in stack.there})
    return ", ".join(values) + (" s" if fact == "timeout" else "")
