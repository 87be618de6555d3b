"""A new project for the CDK synthesizes; its queue is a nested stack."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.walk.conftest import Execute


@pytest.mark.skipif(not shutil.which("node"), reason="the CDK requires Node")
def test_new_project_for_the_cdk_synthesizes(execute: Execute, wheels: Path, tmp_path: Path) -> None:
    execute(tmp_path, sys.executable, "-m", "venv", "environment")
    tools = tmp_path / "environment" / "bin"
    execute(tmp_path, tools / "pip", "install", "--quiet", f"{next(wheels.glob('*.whl'))}[cdk,cli]")
    execute(tmp_path, tools / "minutehand", "init", "shop", "--cdk")
    shop = tmp_path / "shop"

    execute(shop, tools / "python", "app.py")

    template = json.loads((shop / "cdk.out" / "shop.template.json").read_text("utf-8"))["Resources"]
    (nested,) = (shop / "cdk.out").glob("*.nested.template.json")
    queue = json.loads(nested.read_text("utf-8"))
    (name,) = (name for name, each in template.items() if each["Type"] == "AWS::CloudFormation::Stack")
    # The names of functions contain it, and have at most 64 characters.
    assert name == "Queue"
    stack = template[name]
    assert stack["Properties"]["Parameters"]["HandlerModules"] == "shop.jobs"
    assert stack["Properties"]["Parameters"].keys() <= queue["Parameters"].keys()
    functions = [each for each in queue["Resources"].values() if each["Type"] == "AWS::Serverless::Function"]
    assert len(functions) == 4
    assert all(each["Properties"]["CodeUri"].keys() == {"Bucket", "Key"} for each in functions)
    assert [*(shop / "cdk.out").glob("asset.*/python/shop/jobs.py")]
