"""Template: the functions, layers and schedules of a SAM template."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samtranslator.yaml_helper import yaml_parse  # type: ignore[import-untyped]

from emulator.errors import TemplateError, UnknownParameterError
from emulator.intrinsics import NOTHING, Resolver
from emulator.invocation import ACCOUNT

FUNCTION, LAYER = "AWS::Serverless::Function", "AWS::Serverless::LayerVersion"
SCHEDULES = {"ScheduleV2", "Schedule"}


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A schedule of a function, and its event."""

    name: str
    input: str = "{}"


@dataclass(frozen=True, kw_only=True)
class Function:
    """A function of the template."""

    id: str
    name: str
    arn: str
    code: Path
    handler: str = "app.handler"
    runtime: str = "python3.13"
    timeout: float = 3.0
    memory: int = 128
    variables: Mapping[str, str] = field(default_factory=dict)
    layers: tuple[str, ...] = ()
    reserved: int | None = None
    retries: int = 2
    age: float = 21600.0
    destination: str | None = None
    schedules: tuple[Schedule, ...] = ()
    http: bool = False


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A layer of the template."""

    id: str
    content: Path
    makefile: bool


@dataclass(frozen=True, kw_only=True)
class Template:
    """The functions and layers of a template, by logical id."""

    path: Path
    region: str
    functions: Mapping[str, Function]
    layers: Mapping[str, Layer]


def read_template(
    path: Path, parameters: Mapping[str, str], *, stack: str = "minutehand", region: str = "us-east-1"
) -> Template:
    """Read a template with these parameters; a parameter without a value or default is empty."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise TemplateError(
            f"{path} cannot be read ({error.strerror}); choose a template with --template"
        ) from None
    try:
        body = yaml_parse(text)
        return _Reader(path.absolute(), body, parameters, stack, region).read()
    except TemplateError:
        raise
    except Exception as error:
        raise TemplateError(
            f"the template {path} is not supported: {type(error).__name__}: {error}"
        ) from None


class _Reader:
    def __init__(self, path: Path, body: Any, parameters: Mapping[str, str], stack: str, region: str) -> None:
        self._path, self._stack, self._region = path, stack, region
        self._resources = body.get("Resources") or {}
        self._globals = (body.get("Globals") or {}).get("Function") or {}
        self._resolve = Resolver(
            parameters=self._parameters(body.get("Parameters") or {}, parameters),
            conditions=body.get("Conditions") or {},
            mappings=body.get("Mappings") or {},
            resource=self._name,
        )

    def read(self) -> Template:
        functions = {id: self._function(id) for id in self._of_type(FUNCTION)}
        layers = {id: self._layer(id) for id in self._of_type(LAYER)}
        return Template(path=self._path, region=self._region, functions=functions, layers=layers)

    def _parameters(self, declared: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
        if unknown := given.keys() - declared.keys():
            raise UnknownParameterError(
                f"the template does not have the parameter {', '.join(sorted(unknown))}"
            )
        pseudo = {
            "AWS::AccountId": ACCOUNT,
            "AWS::Partition": "aws",
            "AWS::Region": self._region,
            "AWS::StackName": self._stack,
            "AWS::URLSuffix": "amazonaws.com",
            "AWS::NotificationARNs": [],
            "AWS::StackId": f"arn:aws:cloudformation:{self._region}:{ACCOUNT}:stack/{self._stack}/0",
        }
        return {**{name: facts.get("Default", "") for name, facts in declared.items()}, **given, **pseudo}

    def _of_type(self, kind: str) -> list[str]:
        return [
            id
            for id, resource in self._resources.items()
            if resource.get("Type") == kind
            and ("Condition" not in resource or self._resolve.condition(resource["Condition"]))
        ]

    def _function_name(self, id: str) -> str:
        declared = self._resources[id].get("Properties", {}).get("FunctionName")
        name = self._resolve(declared) if declared is not None else NOTHING
        return f"{self._stack}-{id}" if name is NOTHING else str(name)

    def _name(self, id: str, attribute: str | None) -> str:
        """Return the name or attribute of a resource; for resources other than functions and layers, a placeholder."""
        kind = self._resources.get(id, {}).get("Type", "")
        if kind == FUNCTION and attribute in (None, "Arn"):
            name = self._function_name(id)
            return name if attribute is None else f"arn:aws:lambda:{self._region}:{ACCOUNT}:function:{name}"
        if attribute == "Arn":
            return f"arn:aws:{kind.split('::')[1].lower() if kind else 'none'}:{self._region}:{ACCOUNT}:{id}"
        return id if attribute is None else f"{id}.{attribute}"

    def _function(self, id: str) -> Function:
        declared = self._resolve(self._resources[id].get("Properties") or {})
        both = (self._resolve(self._globals), declared)
        settings = {**both[0], **both[1]}
        events = declared.get("Events") or {}
        asynchronous = settings.get("EventInvokeConfig") or {}
        variables = [(part.get("Environment") or {}).get("Variables") or {} for part in both]
        return Function(
            id=id,
            name=self._function_name(id),
            arn=self._name(id, "Arn"),
            code=self._path.parent / settings["CodeUri"],
            handler=settings.get("Handler", "app.handler"),
            runtime=settings.get("Runtime", "python3.13"),
            timeout=float(settings.get("Timeout", 3)),
            memory=int(settings.get("MemorySize", 128)),
            variables={name: _text(value) for part in variables for name, value in part.items()},
            layers=tuple(dict.fromkeys(layer for part in both for layer in part.get("Layers") or [])),
            reserved=_number(settings.get("ReservedConcurrentExecutions")),
            retries=int(asynchronous.get("MaximumRetryAttempts", 2)),
            age=float(asynchronous.get("MaximumEventAgeInSeconds", 21600)),
            destination=_destination(asynchronous),
            schedules=tuple(_schedules(events)),
            http=any(event.get("Type") == "HttpApi" for event in events.values()),
        )

    def _layer(self, id: str) -> Layer:
        resource = self._resources[id]
        method = (resource.get("Metadata") or {}).get("BuildMethod", "")
        content = self._path.parent / self._resolve(resource["Properties"]["ContentUri"])
        return Layer(id=id, content=content, makefile=method == "makefile")


def _schedules(events: Mapping[str, Any]) -> list[Schedule]:
    return [
        Schedule(name=name, input=event.get("Properties", {}).get("Input", "{}"))
        for name, event in events.items()
        if event.get("Type") in SCHEDULES
    ]


def _destination(asynchronous: Mapping[str, Any]) -> str | None:
    failure = (asynchronous.get("DestinationConfig") or {}).get("OnFailure") or {}
    return failure.get("Destination")


def _number(value: Any) -> int | None:
    return None if value is None or value == "" else int(value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
