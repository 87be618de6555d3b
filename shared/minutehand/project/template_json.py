"""The stack's template as JSON, because the CDK does not read YAML with anchors under tags."""

from typing import Any

import yaml

# Tags whose long form is not Fn::<tag>.
NAMES = {"Ref": "Ref", "Condition": "Condition"}


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads the tags of CloudFormation as its functions in their long form."""


def _function(loader: Any, tag: str, node: Any) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)
    if tag == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {NAMES.get(tag, f"Fn::{tag}"): value}


_Loader.add_multi_constructor("!", _function)


def template_json(text: str) -> dict[str, Any]:
    """Return a template in CloudFormation's JSON form."""
    template: dict[str, Any] = yaml.load(text, _Loader)
    return template
