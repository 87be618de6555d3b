"""Functions of the template: runtime, timeouts, layers, logs, network and tags."""

import re

import boto3
import pytest

from tests.template.cases import CASES, EXISTING, GROUP, SUBNETS
from tests.template.stack import ROOT, Stack

NAMES = {
    "ApiFunction": "api",
    "DispatcherFunction": "dispatcher",
    "MigrateFunction": "migrate",
    "WorkerFunction": "worker",
}
FUNCTIONS = set(NAMES)
# Seconds: a tick must end before the next one, or wait for it; API Gateway waits 30 s, and Lambda allows 900 s.
LONGEST = {"ApiFunction": 29, "DispatcherFunction": 60, "MigrateFunction": 300, "WorkerFunction": 900}
API_LAYERS = [("layers/api", ["arm64"]), ("layers/api", ["x86_64"])]
ENCRYPTION_LAYERS = [("layers/encryption", ["arm64"]), ("layers/encryption", ["x86_64"])]


@pytest.mark.planted("Runtime: python3.13", "Runtime: python3.99")
@pytest.mark.planted(r"CompatibleRuntimes: \[python3.13\]", "CompatibleRuntimes: [python3.12]")
def test_layers_are_built_for_a_supported_runtime(stack: Stack) -> None:
    service = boto3.client("lambda", region_name="eu-central-1").meta.service_model
    (runtime,) = {function["Runtime"] for function in stack.functions.values()}

    assert runtime in service.shape_for("Runtime").enum
    for layer in stack.of_type("AWS::Lambda::LayerVersion").values():
        assert [runtime] == layer["CompatibleRuntimes"]


@pytest.mark.planted(r"\[Prompts, 90, 60\]", "[Prompts, 90, 61]")
@pytest.mark.planted("Timeout: 29", "Timeout: 30")
@pytest.mark.planted("MaxValue: 900(?=.{1,80}that an invocation)", "MaxValue: 1200")
def test_every_function_has_a_reasonable_timeout(stack: Stack) -> None:
    assert set(stack.functions) == FUNCTIONS
    functions = stack.deployed(**EXISTING).of_type("AWS::Lambda::Function")
    for name, function in functions.items():
        timeout = stack.functions[name]["Timeout"]
        parameter = timeout.get("Ref") if isinstance(timeout, dict) else None
        most = stack.template["Parameters"][parameter]["MaxValue"] if parameter else function["Timeout"]
        assert most <= LONGEST[name]


@pytest.mark.planted(r"!If \[Prompts, 90, 60\]", "60")
def test_dispatcher_that_waits_outlasts_the_start_of_the_next(stack: Stack) -> None:
    prompt = stack.deployed(**CASES["prompt"]).of_type("AWS::Lambda::Function")["DispatcherFunction"]

    assert prompt["Timeout"] >= 60 + 30


@pytest.mark.planted(
    "DispatcherFunction:\n.*?-dispatcher",
    "DispatcherFunction:\n    Type: AWS::Serverless::Function\n    Properties:\n      FunctionName: dispatcher",
)
@pytest.mark.planted(
    "FunctionName: !Sub \\${AWS::StackName}-worker", "FunctionName: !Sub ${AWS::StackName}-workers"
)
def test_functions_are_named_after_their_stack(stack: Stack) -> None:
    names = {name: function["FunctionName"] for name, function in stack.functions.items()}

    assert names == {name: {"Fn::Sub": f"${{AWS::StackName}}-{short}"} for name, short in NAMES.items()}


@pytest.mark.planted("- !Ref LibraryLayer", "- !Ref DependenciesX86Layer")
@pytest.mark.planted(r"!If \[OnArm, !Ref DependenciesArm64Layer", "!If [OnArm, !Ref DependenciesArmLayer")
@pytest.mark.planted(
    "OnArm, !Ref DependenciesArm64Layer, !Ref DependenciesX86Layer",
    "OnX86, !Ref DependenciesArm64Layer, !Ref DependenciesX86Layer",
)
@pytest.mark.planted("OnArm, !Ref EncryptionArm64Layer", "OnArm, !Ref EncryptionX86Layer")
@pytest.mark.planted(
    r"!If \[OnArm, !Ref ApiArm64Layer, !Ref ApiX86Layer", "!If [OnArm, !Ref ApiX86Layer, !Ref ApiArm64Layer"
)
def test_every_function_has_the_layers_of_its_architecture(stack: Stack) -> None:
    layers = stack.of_type("AWS::Lambda::LayerVersion")
    for name, function in stack.functions.items():
        attached = function["Layers"]["Fn::If"]
        if attached[0] == "AddsHandlers":
            _, with_handlers, without = attached
            attached = without["Fn::If"]
            assert with_handlers == {
                "Fn::If": [attached[0], *([*each, {"Ref": "HandlersLayer"}] for each in attached[1:])]
            }
        encrypts, encrypting, layered = attached
        dependencies, library, encryption, *own = encrypting
        condition, arm, x86 = dependencies["Fn::If"]

        assert encrypts == "Encrypts"
        assert layered == [dependencies, library, *own]

        assert condition == "OnArm"
        assert layers[arm["Ref"]]["CompatibleArchitectures"] == ["arm64"]
        assert layers[x86["Ref"]]["CompatibleArchitectures"] == ["x86_64"]
        assert {"arm64", "x86_64"} == set(layers[library["Ref"]]["CompatibleArchitectures"])
        assert function["Architectures"] == [{"Ref": "Architecture"}]
        made_for = [
            (layers[layer["Ref"]]["Content"]["S3Key"], layers[layer["Ref"]]["CompatibleArchitectures"])
            for choice in [encryption, *own]
            for layer in choice["Fn::If"][1:]
        ]
        assert made_for == [*ENCRYPTION_LAYERS, *(API_LAYERS if name == "ApiFunction" else [])]
    assert stack.parameters["Architecture"] == "arm64"


@pytest.mark.planted("DependenciesArm64Layer:\n", "DependenciesArmLayer:\n")
@pytest.mark.planted("ContentUri: layers/library", "ContentUri: layers/libraries")
def test_every_layer_has_a_makefile_that_builds_it(stack: Stack) -> None:
    for name, resource in stack.template["Resources"].items():
        if resource["Type"] == "AWS::Serverless::LayerVersion":
            makefile = ROOT / resource["Properties"]["ContentUri"] / "Makefile"

            assert resource["Metadata"]["BuildMethod"] == "makefile"
            assert makefile.exists()
            assert re.search(rf"^build-{name}[ :]", makefile.read_text("utf-8"), re.MULTILINE)


@pytest.mark.planted("CodeUri: functions/api", "CodeUri: functions/apis")
def test_no_function_has_its_own_requirements(stack: Stack) -> None:
    for name in FUNCTIONS:
        folder = ROOT / stack.template["Resources"][name]["Properties"]["CodeUri"]

        assert (folder / "app.py").exists()
        assert not (folder / "requirements.txt").exists(), "SAM would build it with the host's Python"


@pytest.mark.planted("RetentionInDays: !Ref LogRetentionDays", "LogGroupClass: STANDARD")
@pytest.mark.planted("LogGroup: !Ref ApiLogs}", "LogGroup: !Ref WorkerFailures}")
@pytest.mark.planted(r"/aws/lambda/\$\{AWS::StackName\}-worker", "/aws/lambda/minutehand-worker")
def test_every_log_group_has_a_retention(stack: Stack) -> None:
    groups = stack.of_type("AWS::Logs::LogGroup")
    for function in stack.functions.values():
        group = groups[function["LoggingConfig"]["LogGroup"]["Ref"]]

        assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}
        assert group["LogGroupName"]["Fn::Sub"].startswith("/aws/lambda/${AWS::StackName}-")


@pytest.mark.planted("LogFormat: JSON, LogGroup: !Ref WorkerLogs", "LogGroup: !Ref WorkerLogs")
@pytest.mark.planted(
    "LogFormat: JSON, LogGroup: !Ref DispatcherLogs", "LogFormat: Text, LogGroup: !Ref DispatcherLogs"
)
def test_uncaught_error_is_one_log_line(stack: Stack) -> None:
    formats = {name: function["LoggingConfig"].get("LogFormat") for name, function in stack.functions.items()}

    assert formats == dict.fromkeys(FUNCTIONS, "JSON")


@pytest.mark.planted(
    "WorkerReservedConcurrency:\n    Type: Number\n    Default: 0",
    "WorkerReservedConcurrency:\n    Type: Number\n    Default: 1",
)
@pytest.mark.planted(
    "!If \\[ReservesDispatcher, !Ref DispatcherReserved", "!If [OnArm, !Ref DispatcherReserved"
)
@pytest.mark.planted("!If \\[ReservesApi, !Ref ApiReserved", "!If [ReservesApi, !Ref WorkerReserved")
@pytest.mark.planted(
    "!If \\[ReservesWorker, !Ref WorkerReserved", "!If [ReservesWorker, !Ref DispatcherReserved"
)
def test_concurrency_is_reserved_only_on_demand(stack: Stack) -> None:
    def reserved(**parameters: int) -> dict[str, int]:
        return {
            name: function["ReservedConcurrentExecutions"]
            for name, function in stack.deployed(**EXISTING, **parameters).functions.items()
            if "ReservedConcurrentExecutions" in function
        }

    assert reserved() == {}
    assert reserved(WorkerReservedConcurrency=50) == {"WorkerFunction": 50}
    assert reserved(DispatcherReservedConcurrency=2) == {"DispatcherFunction": 2}
    assert reserved(ApiReservedConcurrency=20) == {"ApiFunction": 20}


@pytest.mark.planted("InVpc: !Not", "InVpc: !And [!Condition OnArm, !Condition OnX86]\n  Outside: !Not")
@pytest.mark.planted('SubnetIds:(.*?)Default: ""', 'SubnetIds:\\1Default: "subnet-1,subnet-2"')
@pytest.mark.planted('- !Split \\[",", !Ref SecurityGroupIds\\]', "- [!Ref VpcId]")
def test_functions_are_in_a_vpc_only_with_subnets(stack: Stack) -> None:
    made = {"Fn::GetAtt": ["FunctionsGroup", "GroupId"]}
    groups = {
        "existing": None,
        "created": [made],
        "created, closed network": {"Fn::Split": [",", {"Fn::Sub": "${FunctionsGroup.GroupId}," + GROUP}]},
        "network": [GROUP],
    }
    for case, security_groups in groups.items():
        network = {"SubnetIds": SUBNETS.split(","), "SecurityGroupIds": security_groups}
        for function in stack.deployed(**CASES[case]).functions.values():
            assert function.get("VpcConfig") == (network if security_groups else None)


@pytest.mark.planted("Tracing: !Ref Tracing", "Tracing: Active")
@pytest.mark.planted("Default: PassThrough", "Default: Active")
@pytest.mark.planted("minutehand:stack", "stack")
def test_every_function_is_tagged_and_traced_on_demand(stack: Stack) -> None:
    for parameters, mode in ((CASES["existing"], "PassThrough"), (CASES["snapshots"], "Active")):
        for function in stack.deployed(**parameters).functions.values():
            assert {"Key": "minutehand:stack", "Value": {"Ref": "AWS::StackName"}} in function["Tags"]
            assert function["TracingConfig"] == {"Mode": mode}


@pytest.mark.planted("DeletionPolicy: Snapshot", "DeletionPolicy: Delete")
@pytest.mark.planted("UpdateReplacePolicy: Snapshot", "UpdateReplacePolicy: Delete")
def test_removed_stack_leaves_only_a_database_snapshot(stack: Stack) -> None:
    for name, resource in stack.translated["Resources"].items():
        policy = "Snapshot" if name == "Database" else "Delete"
        assert resource.get("DeletionPolicy", "Delete") == policy
        assert resource.get("UpdateReplacePolicy", policy) in {policy, "Retain"}
