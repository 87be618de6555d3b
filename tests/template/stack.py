"""The stack as the tests read it: translated without an account, with every branch of every condition."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "template.yaml"
NOTHING = {"Ref": "AWS::NoValue"}
SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:"

Properties = dict[str, Any]


class Stack:
    """A template and its translation."""

    def __init__(self, text: str) -> None:
        self.template: dict[str, Any] = yaml_parse(text)
        self.parameters = {
            name: facts.get("Default", SECRET + name) for name, facts in self.template["Parameters"].items()
        }
        self.translated: dict[str, Any] = Translator({}, Parser()).translate(
            _packaged(self.template), dict(self.parameters), feature_toggle=None
        )

    def of_type(self, kind: str) -> dict[str, Properties]:
        """The properties of every resource of a type, by name."""
        return {
            name: resource["Properties"]
            for name, resource in self.translated["Resources"].items()
            if resource["Type"] == kind
        }

    @property
    def functions(self) -> dict[str, Properties]:
        return self.of_type("AWS::Lambda::Function")

    def value(self, value: Any) -> Any:
        """What a parameter says unless somebody says otherwise."""
        return (
            self.parameters.get(value["Ref"], value) if isinstance(value, dict) and "Ref" in value else value
        )

    def variables(self, function: str) -> dict[str, Any]:
        """What a function finds in its environment."""
        return {
            name: self.value(value)
            for name, value in self.functions[function]["Environment"]["Variables"].items()
        }

    def statements(self, role: str) -> list[Properties]:
        """All that a role may do, by its own policies and by the stack's that are attached to it."""
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
        """The name of a function's role."""
        return str(self.functions[function]["Role"]["Fn::GetAtt"][0])


def policies_of(role: Properties) -> list[Any]:
    return list(role.get("ManagedPolicyArns", []))


def arn(resource: str) -> Properties:
    """How the template names the ARN of a resource."""
    return {"Fn::GetAtt": [resource, "Arn"]}


def branches(value: Any) -> Iterator[Any]:
    """Every value that a condition may choose."""
    if isinstance(value, dict) and "Fn::If" in value:
        for branch in value["Fn::If"][1:]:
            yield from branches(branch)
    elif value != NOTHING:
        yield value


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _packaged(template: dict[str, Any]) -> dict[str, Any]:
    """What `sam package` makes of the paths."""
    template = json.loads(json.dumps(deepcopy(template)))
    for resource in template["Resources"].values():
        for name in {"CodeUri", "ContentUri"} & resource.get("Properties", {}).keys():
            resource["Properties"][name] = f"s3://bucket/{resource['Properties'][name]}"
    return template
