"""CDK: the queue as a nested stack of an app in the AWS CDK, which `pip install 'minutehand[cdk]'` installs.

The stack's template is included as it is. Its functions and layers, and the team's package, become assets; layers are
built by make, as `sam build` builds them.
"""

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import NestedStack, Stack, Token
from aws_cdk.aws_lambda import Architecture, Code, ILayerVersion, LayerVersion, Runtime
from aws_cdk.aws_s3_assets import Asset
from aws_cdk.cloudformation_include import CfnInclude
from constructs import Construct

import minutehand
from minutehand.project.errors import ProjectError
from minutehand.project.names import longest_outer_stack
from minutehand.project.template_json import template_json
from minutehand.stack import folder

BUILD = Path(".minutehand") / "cdk"
CODE = {"AWS::Serverless::Function": "CodeUri", "AWS::Serverless::LayerVersion": "ContentUri"}
RUNTIME = Runtime.PYTHON_3_13


class Queue(NestedStack):  # type: ignore[misc]
    """The queue's stack. `handlers` is the layer with the team's package, `code` the package for other functions.

    `layers` are those of a function that enqueues. The package's folder has the Makefile that `minutehand init` wrote.
    Parameters are those of the stack's template; HandlersLayer is set, and HandlerModules must be.
    """

    def __init__(self, scope: Construct, id: str, *, package: str, parameters: Mapping[str, str]) -> None:
        """Build the layers, and include the template.

        Raises ProjectError if a layer cannot be built, or if the name of the stack is too long.
        """
        resource = re.sub("[^A-Za-z0-9]", "", id)
        _check_length(Stack.of(scope).stack_name, longest_outer_stack(resource))
        architecture = parameters.get("Architecture", "arm64")
        self.handlers: ILayerVersion = LayerVersion(
            scope,
            f"{id}Handlers",
            code=Code.from_asset(str(_make(Path(package), "Handlers"))),
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[
                Architecture.ARM_64 if architecture == "arm64" else Architecture.X86_64
            ],
        )
        given = {**parameters, "HandlersLayer": self.handlers.layer_version_arn}
        super().__init__(scope, id, parameters=given)
        # It is a part of the names of the functions. The CDK's own has 43 characters more than the id.
        self.nested_stack_resource.override_logical_id(resource)
        self.code = Code.from_asset(str(_make(Path(package), "Api")))
        self._include(architecture)
        self.layers = [*(self._layer(name) for name in ("DependenciesLayer", "LibraryLayer")), self.handlers]

    def _include(self, architecture: str) -> None:
        """Include the template with assets as the code of its functions and layers.

        The CDK's own types of SAM's resources do not accept all of their properties. Another type has no schema, and is
        replaced again.
        """
        template = template_json((folder() / "template.yaml").read_text(encoding="utf-8"))
        resources = {name: resource for name, resource in template["Resources"].items() if _is_sam(resource)}
        types = {name: resource["Type"] for name, resource in resources.items()}
        for resource in resources.values():
            resource["Type"] = "Custom::Serverless"
        path = BUILD / "template.json"
        path.write_text(json.dumps(template), encoding="utf-8")
        # SAM resolves the cycle of the dispatcher and the role of its schedule.
        include = CfnInclude(self, "Template", template_file=str(path), allow_cyclical_references=True)
        for name, type in types.items():
            included = include.get_resource(name)
            included.add_override("Type", type)
            if key := CODE.get(type):
                source = self._source(name, resources[name]["Properties"][key], architecture)
                asset = Asset(self, f"{name}Code", path=str(source))
                location = {"Bucket": asset.s3_bucket_name, "Key": asset.s3_object_key}
                included.add_property_override(key, location)

    def _source(self, name: str, place: str, architecture: str) -> Path:
        """Return the folder of a function's code or of a built layer. Layers of the other architecture are not used."""
        if not place.startswith("layers/"):
            return folder() / place
        for other, used in (("X86", "Arm64"), ("Arm64", "X86")):
            if architecture == ("arm64" if used == "Arm64" else "x86_64"):
                name = name.replace(other, used)
        return _make(folder() / place, name)

    def _layer(self, output: str) -> ILayerVersion:
        arn = self.nested_stack_resource.get_att(f"Outputs.{output}").to_string()
        return LayerVersion.from_layer_version_arn(self.node.scope, f"{self.node.id}{output}", arn)


def _check_length(stack: str, longest: int) -> None:
    # The name of a nested stack is known only during the deployment.
    if not Token.is_unresolved(stack) and len(stack) > longest:
        raise ProjectError(
            f"the name of the stack must have at most {longest} characters, got {len(stack)} in {stack!r}; "
            "set a shorter stack_name, because the names of functions contain it"
        )


def _is_sam(resource: Mapping[str, Any]) -> bool:
    return str(resource["Type"]).startswith("AWS::Serverless::")


def _make(source: Path, name: str) -> Path:
    """Build a target of a Makefile, unless its sources are those of the last build; return the folder of the result.

    A folder without requirements is built each time: it copies the library, which is elsewhere, in a second.
    """
    result, stamp = BUILD / name, BUILD / f"{name}.sha256"
    requirements = [path for path in (source, source.parent) if (path / "requirements.txt").is_file()]
    digest = _digest(source) if requirements else ""
    if not (digest and result.is_dir() and stamp.is_file() and stamp.read_text() == digest):
        shutil.rmtree(result, ignore_errors=True)
        result.mkdir(parents=True)
        _run_make(source, name, result)
        stamp.write_text(digest)
    return result


def _run_make(source: Path, name: str, result: Path) -> None:
    command = ["make", "--silent", "-C", str(source), f"build-{name}", f"ARTIFACTS_DIR={result.absolute()}"]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if done.returncode:
        raise ProjectError(f"{name} cannot be built: {done.stderr.strip() or done.stdout.strip()}")


def _digest(source: Path) -> str:
    """Return a digest of a folder, of the requirements next to it, and of minutehand's version."""
    digest = hashlib.sha256(minutehand.__version__.encode())
    files = [path for path in sorted(source.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
    for path in [*files, source.parent / "requirements.txt"]:
        if path.is_file():
            digest.update(f"{path}\0".encode() + path.read_bytes())
    return digest.hexdigest()
