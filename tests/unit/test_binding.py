"""A handler's payload and job are bound by name and annotation; other signatures are rejected at load time."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from minutehand import InvalidHandlerError, Job
from minutehand.calling.binding import bind
from minutehand.handlers import Handler, HandlerTable
from minutehand.web.delivered_job import DeliveredJob
from minutehand.web.routes import Route

if TYPE_CHECKING:
    from decimal import Decimal


@dataclass
class Letter:
    to: str


def plain(payload, job): ...
def payload_only(letter: Letter): ...
def job_only(job): ...
def nothing(): ...
def defaults(payload, times=3, log=print): ...
def annotated(letter: Letter, current: Job | None): ...
def reversed_order(job, letter: Letter): ...
def keyword_only(letter, *, job): ...
def all_keyword_only(*, payload, job): ...
def between(payload, times=3, job=None): ...
def default_payload(payload=None, job=None): ...
def only_default(letter=None): ...
def unused(_payload, _job): ...
def positional_only(letter, job, /): ...
def further(payload, *extra, **options): ...


@pytest.mark.parametrize(
    ("function", "args", "keywords"),
    [
        (plain, ("P", "J"), {}),
        (payload_only, ("P",), {}),
        (job_only, ("J",), {}),
        (nothing, (), {}),
        (defaults, ("P",), {}),
        (annotated, ("P", "J"), {}),
        (reversed_order, ("J", "P"), {}),
        (keyword_only, ("P",), {"job": "J"}),
        (all_keyword_only, (), {"payload": "P", "job": "J"}),
        (between, ("P",), {"job": "J"}),
        (default_payload, ("P", "J"), {}),
        (only_default, ("P",), {}),
        (unused, ("P", "J"), {}),
        (positional_only, ("P", "J"), {}),
        (further, ("P",), {}),
        ([].append, ("P",), {}),
        (lambda data: None, ("P",), {}),
    ],
)
def test_arguments_are_bound_by_name_and_annotation(
    function: Callable[..., Any], args: tuple[str, ...], keywords: dict[str, str]
) -> None:
    received: list[Any] = []
    binding = bind(function, (Job,))

    binding.call(lambda *given, **named: received.extend([given, named]), "P", "J")

    assert received == [args, keywords]


def two_payloads(order, customer): ...
def two_jobs(job, current: Job): ...
def two_defaults(order=None, customer=None): ...
def unnamed_job(data, task): ...
def variadic(*args, **kwargs): ...
def job_and_variadic(job, **options): ...
def job_as_payload(job: Letter): ...
def job_as_dict(job: dict[str, Any]): ...
def late_positional(payload, times=3, job=None, /): ...
def generator(payload):
    yield payload


async def async_generator(payload):
    yield payload


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (two_payloads, "order and customer would all receive the payload; annotate the job with Job"),
        (unnamed_job, "data and task would all receive the payload"),
        (two_jobs, "job and current would both receive the job"),
        (two_defaults, "order and customer all have defaults; name the payload `payload`"),
        (variadic, "use functools.wraps in the decorator"),
        (job_and_variadic, "name the payload"),
        (job_as_payload, "annotated with Letter; name the payload `payload`"),
        (job_as_dict, "annotated with dict"),
        (late_positional, "job is positional-only and follows a parameter with a default"),
        (generator, "must not be a generator function"),
        (async_generator, "must not be a generator function"),
        (functools.partial(generator), "must not be a generator function"),
        (dict, "no signature that Python can read"),
        ("handle", "a handler must be a function, got 'handle'"),
    ],
)
def test_table_rejects_a_handler_that_cannot_be_called(function: Any, problem: str) -> None:
    with pytest.raises(InvalidHandlerError) as raised:
        HandlerTable({"echo": function})

    assert problem in str(raised.value)
    assert getattr(function, "__name__", "handle") in str(raised.value)


def test_rejection_has_the_expected_signatures() -> None:
    with pytest.raises(InvalidHandlerError) as raised:
        bind(two_payloads, (Job,))

    assert str(raised.value).startswith(f"handler {__name__}.two_payloads: ")
    assert str(raised.value).endswith(
        "expected handle(payload), handle(payload, job), handle(job) or handle()"
    )


class Mailer:
    def send(self, letter: Letter, *, job: Job) -> None: ...

    def __call__(self, letter: Letter, job: Job) -> None: ...


def renaming(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(payload: Any, job: Any) -> Any:
        return function(payload)

    return wrapper


def passing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def with_times(letter: Letter, times: int, job: Job) -> None: ...


@pytest.mark.parametrize(
    "function",
    [
        Mailer().send,
        Mailer(),
        functools.partial(with_times, times=3),
        renaming(payload_only),
        passing(annotated),
        passing(renaming(payload_only)),
    ],
    ids=["method", "object", "partial", "decorated", "wrapped", "wrapped twice"],
)
def test_methods_partials_and_decorated_functions_are_bound(function: Callable[..., Any]) -> None:
    binding = bind(function, (Job,))

    binding.call(function, "P", "J")
    assert binding.payload_type is Letter


def test_argument_of_a_partial_is_left_alone() -> None:
    binding = bind(functools.partial(plain, job="fixed"), (Job,))

    assert (binding.positional, binding.keywords) == (("payload",), ())


def test_unresolvable_annotation_of_another_parameter_is_ignored() -> None:
    def post(letter: Letter, price: Decimal = 1, *, current: Job) -> None: ...  # type: ignore[assignment]

    binding = bind(post, (Job,))

    assert binding.payload_type is Letter
    assert binding.keywords == (("current", "job"),)


def test_unresolvable_payload_type_is_logged_and_not_converted(caplog: pytest.LogCaptureFixture) -> None:
    def price(amount: Decimal) -> None: ...

    assert bind(price, (Job,)).payload_type is None
    assert "the type Decimal is not defined at run time" in caplog.text


def test_unresolvable_job_annotation_is_bound_by_its_name() -> None:
    if TYPE_CHECKING:
        from somewhere import Job as Elsewhere  # type: ignore[import-not-found]

    def post(letter: Letter, current: Elsewhere.Job) -> None: ...

    assert bind(post, (Job,)).positional == ("payload", "job")


def test_route_binds_its_own_job_type_and_rejects_when_decorating() -> None:
    route = Route("emails", "/")

    @route.handles("welcome")
    def welcome(letter: Letter, delivered: DeliveredJob) -> None: ...

    assert route.find("welcome").binding == Handler.of(welcome, job_types=(DeliveredJob,)).binding
    with pytest.raises(InvalidHandlerError):
        route.handles("welcome")(two_payloads)
