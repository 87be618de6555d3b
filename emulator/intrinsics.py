"""Intrinsics: resolve CloudFormation's intrinsic functions, as far as functions and layers use them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from emulator.errors import TemplateError

NOTHING = object()
VARIABLE = re.compile(r"\$\{(!?)([^}]+)\}")


@dataclass(frozen=True, kw_only=True)
class Resolver:
    """Resolves values of one template with its parameters; `resource(name, attribute)` names its resources."""

    parameters: Mapping[str, Any]
    conditions: Mapping[str, Any]
    resource: Callable[[str, str | None], Any]
    mappings: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, value: Any) -> Any:
        """Return the value with all functions resolved; AWS::NoValue removes an entry."""
        if isinstance(value, list):
            return [resolved for entry in value if (resolved := self(entry)) is not NOTHING]
        if not isinstance(value, dict):
            return value
        if len(value) == 1 and (known := self._known(*next(iter(value.items())))) is not None:
            return known()
        return {name: resolved for name, entry in value.items() if (resolved := self(entry)) is not NOTHING}

    def condition(self, name: str) -> bool:
        """Return the value of a condition."""
        if name not in self.conditions:
            raise TemplateError(f"the template does not have the condition {name}")
        return bool(self(self.conditions[name]))

    def _known(self, name: str, value: Any) -> Callable[[], Any] | None:
        functions: dict[str, Callable[[], Any]] = {
            "Ref": lambda: self._ref(value),
            "Condition": lambda: self.condition(value),
            "Fn::GetAtt": lambda: self._attribute(value),
            "Fn::Sub": lambda: self._substitute(*(value if isinstance(value, list) else [value, {}])),
            "Fn::If": lambda: self(value[1] if self.condition(value[0]) else value[2]),
            "Fn::Join": lambda: str(value[0]).join(map(str, _listed(self(value[1])))),
            "Fn::Split": lambda: str(self(value[1])).split(value[0]),
            "Fn::Select": lambda: _listed(self(value[1]))[int(self(value[0]))],
            "Fn::FindInMap": lambda: self._find(*self(value)),
            "Fn::Equals": lambda: str(self(value[0])) == str(self(value[1])),
            "Fn::Not": lambda: not self(value[0]),
            "Fn::And": lambda: all(self(entry) for entry in value),
            "Fn::Or": lambda: any(self(entry) for entry in value),
        }
        return functions.get(name)

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return NOTHING
        return self.parameters[name] if name in self.parameters else self.resource(name, None)

    def _attribute(self, value: Any) -> Any:
        name, _, attribute = (".".join(value) if isinstance(value, list) else value).partition(".")
        return self.resource(name, attribute)

    def _find(self, mapping: str, first: str, second: str) -> Any:
        return self.mappings[mapping][str(first)][second]

    def _substitute(self, text: str, extra: Mapping[str, Any]) -> str:
        def substitute(found: re.Match[str]) -> str:
            literal, name = found.groups()
            if literal:
                return f"${{{name}}}"
            if name in extra:
                return str(self(extra[name]))
            return str(self._attribute(name) if "." in name else self._ref(name))

        return VARIABLE.sub(substitute, text)


def _listed(value: Any) -> list[Any]:
    """Return a list; split a CommaDelimitedList."""
    return value if isinstance(value, list) else str(value).split(",")
