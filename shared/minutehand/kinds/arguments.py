"""Arguments: the parameters of a decorated function as the fields of a payload.

    @job
    def welcome(email: str, plan: str = "free"): ...        {"email": "ada@example.com"}

Arguments that a call leaves out are not in the payload: the worker's code supplies the default. A function whose only
parameter is named `payload` receives the whole payload instead.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from inspect import Parameter
from typing import Any

from minutehand.calling.binding import job_parameter, name_of, resolve, signature_of
from minutehand.calling.conversion import convert
from minutehand.claimed_job import Job
from minutehand.errors import InvalidHandlerError, MismatchError, PayloadError
from minutehand.model.payload import decode, encode
from minutehand.model.suggestion import suggestion

RULE = "payload_matches_the_handler"


class Arguments:
    """The parameters of a function, without the one that receives the job.

    Annotations are resolved at first use, since they may name types that are defined later.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        """Read the signature; raise InvalidHandlerError if a payload cannot have its arguments."""
        self._function = function
        self._signature = signature_of(function)
        parameters = list(self._signature.parameters.values())
        hints = {each.name: resolve(each, function) for each in parameters}
        self._job = job_parameter(function, parameters, hints, (Job,))
        self._parameters = {each.name: each for each in parameters if each.name != self._job}
        self._check(parameters)

    @property
    def names(self) -> list[str]:
        """The names of the parameters."""
        return list(self._parameters)

    @property
    def required(self) -> list[str]:
        """The names of the parameters without a default."""
        return [name for name, each in self._parameters.items() if each.default is Parameter.empty]

    @property
    def _takes_payload(self) -> bool:
        return self.names == ["payload"]

    @cached_property
    def payload_type(self) -> Any:
        """The type of the payload: a Struct with a field for each parameter."""
        types = {name: _known(resolve(each, self._function)) for name, each in self._parameters.items()}
        if self._takes_payload:
            return types["payload"]
        # Imported only when used, for the sake of cold starts.
        import msgspec

        fields = [
            (name, types[name])
            if each.default is Parameter.empty
            else (name, types[name], msgspec.field(default=msgspec.UNSET))
            for name, each in self._parameters.items()
        ]
        return msgspec.defstruct("Arguments", fields, kw_only=True)

    @cached_property
    def result_type(self) -> Any:
        """The return annotation; Any if there is none, or if it names a type that is not defined at run time."""
        annotation = self._signature.return_annotation
        returned = Parameter("result", Parameter.KEYWORD_ONLY, annotation=annotation)
        return _known(resolve(returned, self._function))

    def payload_of(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Return the payload of a call; raise PayloadError if the function could not be called so."""
        signature = self._signature.replace(parameters=list(self._parameters.values()))
        try:
            # Before a missing argument, which may be one with a typing error.
            self._check_names(kwargs)
            given = signature.bind(*args, **kwargs).arguments
        except (MismatchError, TypeError) as error:
            raise PayloadError(RULE, f"{name_of(self._function)}: {error}; {self._expected}") from None
        # A Struct, so that containers are encoded as declared, such as a dictionary with dates as keys.
        return decode(encode(given.get("payload") if self._takes_payload else self.payload_type(**given)))

    def check(self, payload: object) -> None:
        """Raise PayloadError if the function does not accept a payload."""
        plain = decode(encode(payload))
        try:
            self._check_fields(plain)
            self.convert(plain)
        except MismatchError as error:
            raise PayloadError(RULE, f"{name_of(self._function)}: {error}; {self._expected}") from None

    def convert(self, payload: Any) -> Any:
        """Return the payload as `payload_type`; raise MismatchError if it does not fit. Unknown fields are ignored.

        A worker may be older than the code that enqueues.
        """
        empty = payload is None and not self._takes_payload
        return convert({} if empty else payload, self.payload_type)

    def call(self, function: Callable[..., Any], payload: Any, job: object) -> Any:
        """Call the function with a converted payload."""
        given = {"payload": payload} if self._takes_payload else self._given(payload)
        named = given if self._job is None else {self._job: job, **given}
        positional = [
            named.pop(name)
            for name, each in self._signature.parameters.items()
            if each.kind is Parameter.POSITIONAL_ONLY and name in named
        ]
        return function(*positional, **named)

    def _given(self, payload: Any) -> dict[str, Any]:
        import msgspec

        values = {name: getattr(payload, name) for name in self._parameters}
        return {name: value for name, value in values.items() if value is not msgspec.UNSET}

    def _check_fields(self, payload: Any) -> None:
        if not self._takes_payload and isinstance(payload, dict):
            self._check_names(payload)

    def _check_names(self, given: Mapping[str, Any]) -> None:
        if unknown := [name for name in given if name not in self._parameters]:
            raise MismatchError(
                f"got an unexpected argument {unknown[0]!r}{suggestion(unknown[0], self.names)}"
            )

    @property
    def _expected(self) -> str:
        parameters = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in self._parameters.values()]
        return f"expected {str(inspect.Signature(parameters)).replace('(*, ', '(')}"

    def _check(self, parameters: list[Parameter]) -> None:
        name = name_of(self._function)
        for each in self._parameters.values():
            if each.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
                raise InvalidHandlerError(
                    f"{name} must not have the parameter {each}; list each argument of the job as a named parameter"
                )
        if self._job and parameters[0].name != self._job:
            raise InvalidHandlerError(
                f"{name} must have its parameter {self._job} first, so that type checkers can leave it out of enqueue"
            )
        if "payload" in self._parameters and not self._takes_payload:
            others = " and ".join(each for each in self.names if each != "payload")
            raise InvalidHandlerError(
                f"{name} must not have both the parameter payload, which receives the whole payload, and {others}; "
                "rename payload"
            )


def _known(hint: Any) -> Any:
    """Return a resolved annotation; Any without one, or if it names a type that is not defined at run time."""
    return Any if hint is None or isinstance(hint, str) else hint
