"""A decorated function is a job: its payload, its arguments, and the errors of invalid declarations."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest

from minutehand import InvalidHandlerError, InvalidJobError, Job, NewJob, PayloadError, Retry, job
from minutehand.handlers import Handler
from minutehand.kinds.declared import DeclaredJob
from minutehand.model.job_options import JobOptions
from minutehand.model.new_job import OPTIONS
from tests.queue.stage import Queue

HOUR = timedelta(hours=1)
ID = "019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10"


@dataclass
class Customer:
    id: UUID
    since: date


def arguments_of(declared: DeclaredJob[..., ..., Any, Any], payload: object) -> Any:
    """Return what the function returns for a payload, as the worker calls it."""
    handler = Handler.of(declared)
    return handler.binding.call(handler.function, handler.binding.convert(payload), "the job")


@pytest.fixture
def welcome() -> Any:
    @job
    def welcome(email: str, plan: str = "free") -> str:
        """Welcome a customer."""
        return f"{email} {plan}"

    return welcome


def test_declared_function_runs_when_it_is_called(welcome: Any) -> None:
    assert welcome("ada@example.com") == "ada@example.com free"
    assert (welcome.kind, welcome.__doc__) == ("welcome", "Welcome a customer.")


def test_payload_has_the_given_arguments_by_name(welcome: Any) -> None:
    assert welcome.new_job("ada@example.com").payload == {"email": "ada@example.com"}
    assert arguments_of(welcome, {"email": "a", "plan": "pro"}) == "a pro"
    assert arguments_of(welcome, {"email": "a", "of_newer_code": 1}) == "a free"


def test_arguments_are_restored_as_their_declared_types() -> None:
    @job
    def renew(current: Job, /, customer: Customer, sums: dict[int, UUID], *, wait: timedelta = HOUR) -> Any:
        return current, customer, sums, wait

    customer = Customer(UUID(ID), date(2026, 3, 1))
    payload = renew.new_job(customer, {1: UUID(ID)}).payload

    assert payload == {"customer": {"id": ID, "since": "2026-03-01"}, "sums": {"1": ID}}
    assert arguments_of(renew, payload) == ("the job", customer, {1: UUID(ID)}, HOUR)


def test_parameter_named_payload_receives_the_whole_payload() -> None:
    @job
    def handle(job: Job, payload: list[date]) -> object:
        return payload

    assert handle.new_job([date(2026, 3, 1)]).payload == ["2026-03-01"]
    assert arguments_of(handle, ["2026-03-01"]) == [date(2026, 3, 1)]


def test_annotation_may_name_a_type_that_is_defined_later() -> None:
    assert arguments_of(job(later), {"order": {"number": 1}}) == Order(1)


def later(order: "Order") -> "Order":
    return order


@dataclass
class Order:
    number: int


def test_function_without_arguments_accepts_no_payload() -> None:
    @job
    def report() -> str:
        return "ran"

    assert [arguments_of(report, payload) for payload in (None, dict[str, int]())] == ["ran", "ran"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "missing a required argument: 'email'"),
        ({"emial": "a"}, "got an unexpected argument 'emial'; did you mean 'email'?"),
        ({"email": 1}, r"Expected `str`, got `int` - at `\$.email`"),
        ({"email": object()}, "object cannot be represented"),
    ],
)
def test_call_that_does_not_fit_is_refused(welcome: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PayloadError, match=message):
        welcome.new_job(**arguments)


def test_option_of_a_call_precedes_that_of_the_declaration() -> None:
    retry = Retry(max=timedelta(hours=1))

    @job(kind="mail.welcome", queue="mail", priority=7, retry=retry)
    def mail(email: str) -> None: ...

    prepared = mail.options(priority=9, key="a", delay=timedelta(days=3), connection=None)

    assert mail.new_job("a") == NewJob("mail.welcome", {"email": "a"}, queue="mail", priority=7, retry=retry)
    assert prepared.new_job("a") == NewJob(
        "mail.welcome",
        {"email": "a"},
        queue="mail",
        priority=9,
        retry=retry,
        key="a",
        delay=timedelta(days=3),
    )


def test_enqueue_separates_options_from_arguments(direct_queue: Queue) -> None:
    @job(queue="mail")
    def mail(email: str) -> None: ...

    enqueue: Any = mail.enqueue
    enqueued = enqueue(email="a", delay=timedelta(days=3), priority=9, connection=direct_queue.database)

    row = direct_queue.row(enqueued.id)
    assert (row.kind, row.payload, row.queue, row.priority) == ("mail", {"email": "a"}, "mail", 9)


def test_declared_options_are_those_of_a_new_job() -> None:
    assert {*JobOptions.__annotations__} == {*OPTIONS} - {"kind", "payload"}


def no_arguments() -> None: ...
def variadic(**kwargs: object) -> None: ...
def job_last(email: str, job: Job) -> None: ...
def with_option(email: str, delay: int) -> None: ...
def with_connection(connection: str) -> None: ...
def with_payload(payload: dict[str, Any], email: str) -> None: ...
def generator(email: str) -> Any:
    yield email


class Mail: ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (variadic, r"must not have the parameter \*\*kwargs: object"),
        (job_last, "must have its parameter job first"),
        (with_option, "parameter delay of .*with_option has the name of the job option delay"),
        (with_connection, "parameter connection of .* has the name of the job option connection"),
        (with_payload, "must not have both the parameter payload, .* and email; rename payload"),
        (generator, "must not be a generator function"),
        (Mail, "@job must decorate a function, got the class Mail"),
        (
            "mail",
            r"@job must decorate a function, got 'mail'; write options by name, such as @job\(queue='mail'\)",
        ),
    ],
)
def test_function_that_cannot_be_a_job_is_refused(function: Any, message: str) -> None:
    with pytest.raises(InvalidHandlerError, match=message):
        job(function)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "no spaces"}, "kind must be 1 to 100 letters"),
        ({"kind": "k" * 101}, "kind must be 1 to 100 letters"),
        ({"every": "never"}, "never"),
        ({"zone": "UTC"}, "every"),
        ({"priority": "high"}, "priority must be an integer from 0 to 9, got str"),
        ({"priority": 10}, "priority must be an integer from 0 to 9, got 10"),
        ({"queue": "a b"}, "queue must be 1 to 100 letters, .*, got 'a b'"),
        ({"max_attempts": 0}, "max_attempts must be an integer from 1 .*, got 0"),
        ({"timeout": timedelta()}, "timeout must be a duration above zero .*, got 0:00:00"),
        ({"expires": timedelta(days=3651)}, "expires must be .* at most 3650 days, got 3651 days"),
        ({"throttle": timedelta(-1)}, "durations above zero, got -1 day"),
        ({"unique_while": "always"}, "unique_while must be upcoming or running, got 'always'"),
        ({"on_conflict": "skip"}, "on_conflict must be .*, got 'skip'"),
    ],
)
def test_option_that_breaks_a_rule_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidJobError, match=message):
        job(**options)(no_arguments)


def test_option_of_one_job_is_refused_as_one_of_the_kind() -> None:
    with pytest.raises(TypeError, match="unexpected option 'key'; set it for each job"):
        job(key="a")  # type: ignore[call-overload]


def test_unknown_option_is_refused_with_the_closest_or_all(welcome: Any) -> None:
    with pytest.raises(
        TypeError, match=r"options\(\) got an unexpected option 'prioriti'; did you mean 'priority'"
    ):
        welcome.options(prioriti=1)
    with pytest.raises(
        TypeError, match=r"job\(\) got an unexpected option 'xyz'; expected one of .*max_attempts"
    ):
        job(xyz=3)  # type: ignore[call-overload]


def test_schedule_needs_a_function_without_required_arguments(welcome: Any) -> None:
    with pytest.raises(InvalidHandlerError, match="give email a default"):
        job(every="@daily")(welcome.__wrapped__)


def test_kind_has_one_function() -> None:
    def declare(module: str) -> None:
        def welcome() -> None: ...

        welcome.__qualname__, welcome.__module__ = "welcome", module
        job(welcome)

    declare("shop.jobs")
    declare("shop.jobs")
    with pytest.raises(
        InvalidHandlerError, match=r"declared by shop\.jobs\.welcome and by shop\.mail\.welcome"
    ):
        declare("shop.mail")
