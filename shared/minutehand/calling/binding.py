"""Binding: which parameters of a handler receive the payload and the job.

    handle(payload)                     handle()
    handle(payload, job)                handle(job)
    handle(order, *, job)               handle(order: Order, current: Job, copies=1)

The job goes to the parameter that is named `job` or annotated with Job. The payload goes to the parameter named
`payload`, otherwise to the only other one without a default, otherwise to the only other one. The rest keep their
defaults.
"""

import dataclasses
import inspect
import logging
import sys
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature
from typing import Any

from minutehand.calling.conversion import convert
from minutehand.errors import InvalidHandlerError

EXPECTED = "expected handle(payload), handle(payload, job), handle(job) or handle()"
JSON_TYPES = (dict, list, str, int, float, bool)

logger = logging.getLogger(__name__)

if sys.version_info >= (3, 14):
    from annotationlib import Format

    signature_of = partial(inspect.signature, annotation_format=Format.FORWARDREF)
else:
    signature_of = inspect.signature


@dataclass(frozen=True)
class Binding:
    """The names of the arguments that a handler gets, `payload` or `job`, by position and by parameter name."""

    positional: tuple[str, ...]
    keywords: tuple[tuple[str, str], ...]
    payload_type: Any = None

    def convert(self, payload: Any) -> Any:
        """Return the payload as the type of the signature; raise MismatchError if it does not fit."""
        return convert(payload, self.payload_type)

    def call(self, function: Callable[..., Any], payload: Any, job: object) -> Any:
        """Call the handler with the arguments that it takes."""
        args = [payload if source == "payload" else job for source in self.positional]
        if not self.keywords:
            return function(*args)
        named = {name: payload if source == "payload" else job for name, source in self.keywords}
        return function(*args, **named)


def bind(function: Callable[..., Any], job_types: Sequence[type]) -> Binding:
    """Read a handler's signature; raise InvalidHandlerError if it cannot be called with a payload and a job."""
    if not callable(function):
        raise InvalidHandlerError(f"a handler must be a function, got {function!r}")
    parameters = _parameters(function)
    named = {each.name: each for each in parameters}
    hints = {each.name: resolve(each, function) for each in parameters}
    fixed = set(function.keywords) if isinstance(function, partial) else set()
    free = [each for each in parameters if each.name not in fixed]
    job = job_parameter(function, free, hints, job_types)
    payload = _payload_parameter(function, [each for each in free if each.name != job])
    sources = {name: source for name, source in ((payload, "payload"), (job, "job")) if name}
    positional, keywords = _arguments(function, named.values(), sources)
    return Binding(positional, keywords, _payload_type(function, payload, hints, job_types))


def is_async(function: Any) -> bool:
    """Return whether a function, or one that its decorators wrap, is a coroutine function."""
    return any(inspect.iscoroutinefunction(level) for level in (function, *levels(function)))


def check_runs(function: Any, role: str, advice: str) -> None:
    """Raise InvalidHandlerError for a generator function, whose body does not run when it is called."""
    code = next(iter(levels(function)))
    if inspect.isgeneratorfunction(code) or inspect.isasyncgenfunction(code):
        raise InvalidHandlerError(f"{role} {name_of(function)} must not be a generator function; {advice}")


def name_of(function: Any) -> str:
    """Return how errors name a function: its module and its name."""
    named = function if hasattr(function, "__qualname__") else code_of(function)
    return f"{named.__module__}.{named.__qualname__}" if hasattr(named, "__qualname__") else repr(named)


def code_of(function: Any) -> Any:
    """Return the function that partials, methods, callable objects and decorators lead to."""
    return inspect.unwrap(_callee(function))


def levels(function: Any) -> Iterable[Any]:
    """Yield a function, and each function that its decorators wrap."""
    level, seen = _callee(function), set[int]()
    while level is not None and id(level) not in seen:
        yield level
        seen.add(id(level))
        level = getattr(level, "__wrapped__", None)


def _callee(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    if isinstance(function, type):
        return function.__init__  # type: ignore[misc] # the signature of the class
    return function if inspect.isroutine(function) else type(function).__call__


def _parameters(function: Callable[..., Any]) -> list[Parameter]:
    """Return the parameters of the outermost function that lists them; decorators may take `*args, **kwargs`."""
    try:
        return list(_explicit_signature(function).parameters.values())
    except (TypeError, ValueError):
        raise InvalidHandlerError(
            f"handler {name_of(function)} has no signature that Python can read; {EXPECTED}: call it in a function"
        ) from None


def _explicit_signature(function: Callable[..., Any]) -> Signature:
    if isinstance(function, types.FunctionType):
        for level in levels(function):
            signature = signature_of(level, follow_wrapped=False)
            if not any(_is_variadic(each) for each in signature.parameters.values()):
                return signature
    return signature_of(function)


def _is_variadic(parameter: Parameter) -> bool:
    return parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def resolve(parameter: Parameter, function: Callable[..., Any]) -> Any:
    """Return the type of an annotation, its text if a name in it is not defined at run time, None without one."""
    if parameter.annotation is Parameter.empty:
        return None
    holder: Any = types.SimpleNamespace(__annotations__={"it": parameter.annotation})
    try:
        names = getattr(code_of(function), "__globals__", {})
        return typing.get_type_hints(holder, names, include_extras=True)["it"]
    except Exception:
        return getattr(parameter.annotation, "__forward_arg__", parameter.annotation)


def job_parameter(
    function: Callable[..., Any],
    parameters: list[Parameter],
    hints: dict[str, Any],
    job_types: Sequence[type],
) -> str | None:
    """Return the name of the parameter that receives the job, or None if there is none."""
    candidates = [
        each.name
        for each in parameters
        if not _is_variadic(each)
        and each.name != "payload"
        and (each.name.lstrip("_") == "job" or _is_job(hints[each.name], job_types))
    ]
    if len(candidates) > 1:
        raise _invalid(function, f"{_names(candidates)} would both receive the job")
    if candidates and _is_payload_type(hint := hints[candidates[0]], job_types):
        problem = f"job is the name of the job, but it is annotated with {getattr(hint, '__name__', hint)}"
        raise _invalid(function, f"{problem}; name the payload `payload`")
    return candidates[0] if candidates else None


def _is_job(hint: Any, job_types: Sequence[type]) -> bool:
    if isinstance(hint, str):
        names = {
            part.strip().rpartition(".")[2] for part in hint.replace("Optional[", "").strip("]").split("|")
        }
        return not names.isdisjoint(each.__name__ for each in job_types)
    options = typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else [hint]
    return any(isinstance(each, type) and issubclass(each, tuple(job_types)) for each in options)


def _is_payload_type(hint: Any, job_types: Sequence[type]) -> bool:
    plain = typing.get_origin(hint) or hint
    if not isinstance(plain, type) or issubclass(plain, tuple(job_types)):
        return False
    return plain in JSON_TYPES or dataclasses.is_dataclass(plain) or hasattr(plain, "model_validate")


def _payload_parameter(function: Callable[..., Any], parameters: list[Parameter]) -> str | None:
    """Return the name of the parameter that receives the payload, or None if there is none."""
    plain = {each.name: each for each in parameters if not _is_variadic(each)}
    required = [name for name, each in plain.items() if each.default is Parameter.empty or name == "payload"]
    if len(required) > 1:
        problem = f"{_names(required)} would all receive the payload"
        raise _invalid(function, f"{problem}; annotate the job with Job, and give other parameters a default")
    if not required and len(plain) > 1:
        raise _invalid(function, f"{_names(plain)} all have defaults; name the payload `payload`")
    if not plain and parameters:
        problem = f"{_names(map(str, parameters))} hides the parameters"
        raise _invalid(function, f"{problem}; name the payload, or use functools.wraps in the decorator")
    return next(iter(required or plain), None)


def _arguments(
    function: Callable[..., Any], parameters: Iterable[Parameter], sources: dict[str, str]
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the sources of the arguments: by position up to the first parameter that keeps its default."""
    positional: list[str] = []
    keywords: list[tuple[str, str]] = []
    skipped = False
    for each in parameters:
        if each.name not in sources:
            skipped = True
        elif each.kind is Parameter.KEYWORD_ONLY or (skipped and each.kind is not Parameter.POSITIONAL_ONLY):
            keywords.append((each.name, sources[each.name]))
        elif skipped:
            raise _invalid(function, f"{each.name} is positional-only and follows a parameter with a default")
        else:
            positional.append(sources[each.name])
    return tuple(positional), tuple(keywords)


def _payload_type(
    function: Callable[..., Any], payload: str | None, hints: dict[str, Any], job_types: Sequence[type]
) -> Any:
    """Return the payload's type: that of the decorated function if the decorator's parameter has another name."""
    hint = None if payload is None else hints[payload]
    if hint is None and payload and (wrapped := getattr(_callee(function), "__wrapped__", None)):
        with suppress(InvalidHandlerError):
            return bind(wrapped, job_types).payload_type
    if isinstance(hint, str):
        logger.warning(
            "handler %s: the type %s is not defined at run time, so payloads are not converted; "
            "import it outside of `if TYPE_CHECKING`",
            name_of(function),
            hint,
        )
        return None
    return hint


def _invalid(function: Callable[..., Any], problem: str) -> InvalidHandlerError:
    return InvalidHandlerError(f"handler {name_of(function)}: {problem}; {EXPECTED}")


def _names(names: Iterable[str]) -> str:
    return " and ".join(names)
