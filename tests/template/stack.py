"""The stack, translated without an account: the whole template, or the resources of one deploy."""

import json
import pickle
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"
NOTHING = {"Ref": "AWS::NoValue"}

Properties = dict[str, Any]


@cache
def _translate(text: str) -> bytes:
    """Return a template, its parameters' defaults and its translation, pickled so that each test has its own."""
    template = yaml_parse(text)
    parameters = {name: facts.get("Default", "") for name, facts in template["Parameters"].items()}
    translator = Translator({}, Parser())
    translated = translator.translate(_packaged(template), dict(parameters), feature_toggle=None)
    return pickle.dumps((template, parameters, translated))


class Stack:
    """A template and its translation."""

    def __init__(self, text: str) -> None:
        self.template: dict[str, Any]
        self.parameters: dict[str, Any]
        self.translated: dict[str, Any]
        self.template, self.parameters, self.translated = pickle.loads(_translate(text))

    def of_type(self, kind: str) -> dict[str, Properties]:
        """Return the properties of every resource of a type, by name."""
        return _of_type(self.translated["Resources"], kind)

    @property
    def functions(self) -> dict[str, Properties]:
        return self.of_type("AWS::Lambda::Function")

    def value(self, value: Any) -> Any:
        """Return the value of a parameter, or its default."""
        return (
            self.parameters.get(value["Ref"], value) if isinstance(value, dict) and "Ref" in value else value
        )

    def variables(self, function: str) -> dict[str, Any]:
        """Return the environment variables of a function."""
        return {
            name: self.value(value)
            for name, value in self.functions[function]["Environment"]["Variables"].items()
        }

    def statements(self, role: str) -> list[Properties]:
        """Return the statements of a role's inline and attached policies."""
        properties = self.of_type("AWS::IAM::Role")[role]
        attached = [
            self.of_type("AWS::IAM::ManagedPolicy")[policy["Ref"]] for policy in policies_of(properties)
        ]
        return [
            statement
            for policy in [*properties.get("Policies", []), *attached]
            for entry in listed(policy["PolicyDocument"]["Statement"])
            for statement in branches(entry)
        ]

    def role_of(self, function: str) -> str:
        """Return the name of a function's role."""
        return str(self.functions[function]["Role"]["Fn::GetAtt"][0])

    def deployed(self, **parameters: Any) -> "Deployed":
        """Return the resources of a deploy with these parameters."""
        return Deployed(self, parameters)

    def refusals(self, **parameters: Any) -> list[str]:
        """Return the messages that reject a deploy with these parameters."""
        choice = Choice(self.parameters | parameters, {})
        return [
            assertion["AssertDescription"]
            for rule in self.template["Rules"].values()
            if choice.holds(rule.get("RuleCondition", {"Fn::Equals": ["", ""]}))
            for assertion in rule["Assertions"]
            if not choice.holds(assertion["Assert"])
        ]


class Deployed:
    """The resources that CloudFormation creates with given parameters."""

    def __init__(self, stack: Stack, parameters: dict[str, Any]) -> None:
        choice = Choice(stack.parameters | parameters, stack.translated["Conditions"])
        self.resources: dict[str, Any] = choice.chosen(stack.translated["Resources"])
        self.outputs: dict[str, Any] = choice.chosen(stack.translated["Outputs"])

    def of_type(self, kind: str) -> dict[str, Properties]:
        return _of_type(self.resources, kind)

    @property
    def functions(self) -> dict[str, Properties]:
        return self.of_type("AWS::Lambda::Function")

    def variables(self, function: str) -> dict[str, Any]:
        variables: dict[str, Any] = self.functions[function]["Environment"]["Variables"]
        return variables


class Choice:
    """The values of the conditions for given parameters."""

    def __init__(self, parameters: Mapping[str, Any], conditions: Mapping[str, Any]) -> None:
        self._parameters = parameters
        self._conditions = conditions

    def holds(self, condition: Any) -> bool:
        ((operator, operands),) = condition.items()
        match operator:
            case "Condition":
                return self.holds(self._conditions[operands])
            case "Fn::Equals":
                left, right = map(self.chosen, operands)
                return str(left) == str(right)
            case "Fn::Not":
                return not self.holds(operands[0])
            case "Fn::And":
                return all(map(self.holds, operands))
            case "Fn::Or":
                return any(map(self.holds, operands))
        raise LookupError(operator)

    def chosen(self, value: Any) -> Any:
        """Return a value with its conditions and parameters resolved."""
        if isinstance(value, list):
            return [self.chosen(item) for item in value if self._there(item)]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((name, operand),) = value.items()
            if name == "Fn::If":
                return self.chosen(self._branch(operand))
            if name == "Ref" and operand in self._parameters:
                return self._parameters[operand]
            if name == "Fn::Sub" and isinstance(operand, str):
                return self._substituted(operand)
            if name == "Fn::Split" and isinstance(text := self.chosen(operand[1]), str):
                return text.split(operand[0])
        return {
            name: self.chosen(item)
            for name, item in value.items()
            if self._there(item) and not (name == "Condition" and isinstance(item, str))
        }

    def _branch(self, operand: list[Any]) -> Any:
        condition, true, false = operand
        return true if self.holds({"Condition": condition}) else false

    def _there(self, item: Any) -> bool:
        """Return whether a value exists: it is not AWS::NoValue, nor a resource whose condition is false."""
        while isinstance(item, dict) and set(item) == {"Fn::If"}:
            item = self._branch(item["Fn::If"])
        if isinstance(item, dict) and isinstance(condition := item.get("Condition"), str):
            return self.holds({"Condition": condition})
        return item != NOTHING

    def _substituted(self, text: str) -> Any:
        replaced = re.sub(r"\$\{(\w+)\}", lambda found: str(self._parameters.get(found[1], found[0])), text)
        return {"Fn::Sub": replaced} if "${" in replaced else replaced


def policies_of(role: Properties) -> list[Any]:
    return [policy for entry in role.get("ManagedPolicyArns", []) for policy in branches(entry)]


def arn(resource: str) -> Properties:
    """Return the reference to the ARN of a resource."""
    return {"Fn::GetAtt": [resource, "Arn"]}


def branches(value: Any) -> Iterator[Any]:
    """Yield every value that a condition may select."""
    if isinstance(value, dict) and "Fn::If" in value:
        for branch in value["Fn::If"][1:]:
            yield from branches(branch)
    elif value != NOTHING:
        yield value


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _of_type(resources: Mapping[str, Any], kind: str) -> dict[str, Properties]:
    return {name: resource["Properties"] for name, resource in resources.items() if resource["Type"] == kind}


def _packaged(template: dict[str, Any]) -> dict[str, Any]:
    """Replace local paths as `sam package` does."""
    template = json.loads(json.dumps(deepcopy(template)))
    for resource in template["Resources"].values():
        for name in {"CodeUri", "ContentUri"} & resource.get("Properties", {}).keys():
            resource["Properties"][name] = f"s3://bucket/{resource['Properties'][name]}"
    return template
