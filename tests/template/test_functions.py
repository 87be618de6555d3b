"""The three functions: their runtime, time, layers, logs, and what happens to events that they did not get."""

import re

import boto3
import pytest

from tests.template.stack import ROOT, Stack, branches

FUNCTIONS = {"ApiFunction", "DispatcherFunction", "WorkerFunction"}
# A tick may take no longer than the next one is away; API Gateway hangs up after 30 s; Lambda ends all after 900.
LONGEST = {"ApiFunction": 29, "DispatcherFunction": 60, "WorkerFunction": 900}
FOURTEEN_DAYS = 14 * 24 * 3600


@pytest.mark.planted("Runtime: python3.13", "Runtime: python3.99")
@pytest.mark.planted(r"CompatibleRuntimes: \[python3.13\]", "CompatibleRuntimes: [python3.12]")
def test_lambda_knows_the_runtime_and_the_layers_are_built_for_it(stack: Stack) -> None:
    service = boto3.client("lambda", region_name="eu-central-1").meta.service_model
    (runtime,) = {function["Runtime"] for function in stack.functions.values()}

    assert runtime in service.shape_for("Runtime").enum
    for layer in stack.of_type("AWS::Lambda::LayerVersion").values():
        assert [runtime] == layer["CompatibleRuntimes"]


@pytest.mark.planted("Timeout: 60", "Timeout: 61")
@pytest.mark.planted("Timeout: 29", "Timeout: 30")
@pytest.mark.planted("MaxValue: 900(?=.{1,80}that an invocation)", "MaxValue: 1200")
def test_no_function_may_take_longer_than_makes_sense(stack: Stack) -> None:
    assert set(stack.functions) == FUNCTIONS
    for name, function in stack.functions.items():
        timeout = function["Timeout"]
        most = (
            stack.template["Parameters"][timeout["Ref"]]["MaxValue"] if isinstance(timeout, dict) else timeout
        )
        assert most <= LONGEST[name]


@pytest.mark.planted(
    "EventInvokeConfig: {MaximumRetryAttempts: 0", "EventInvokeConfig: {MaximumRetryAttempts: 2"
)
@pytest.mark.planted(
    "EventInvokeConfig:\n        MaximumRetryAttempts: 0",
    "EventInvokeConfig:\n        MaximumRetryAttempts: 1",
)
@pytest.mark.planted("        MaximumEventAgeInSeconds: 60\n", "        MaximumEventAgeInSeconds: 21600\n")
@pytest.mark.planted("        MaximumEventAgeInSeconds: 60\n", "")
def test_an_event_is_delivered_once_within_a_minute_or_never(stack: Stack) -> None:
    configured = {
        config["FunctionName"]["Ref"]: (config["MaximumRetryAttempts"], config["MaximumEventAgeInSeconds"])
        for config in stack.of_type("AWS::Lambda::EventInvokeConfig").values()
    }

    assert configured == {"DispatcherFunction": (0, 60), "WorkerFunction": (0, 60)}


@pytest.mark.planted("(OfferTtl:.*?)MinValue: 90", r"\1MinValue: 60")
def test_an_offer_outlives_the_event_that_carries_it(stack: Stack) -> None:
    ages = [
        config["MaximumEventAgeInSeconds"]
        for config in stack.of_type("AWS::Lambda::EventInvokeConfig").values()
    ]

    assert stack.template["Parameters"]["OfferTtl"]["MinValue"] > max(ages)


@pytest.mark.planted("Destination: !GetAtt WorkerFailures.Arn", "Destination: !GetAtt WorkerLogs.Arn")
@pytest.mark.planted("MessageRetentionPeriod: 1209600", "MessageRetentionPeriod: 345600")
@pytest.mark.planted("SqsManagedSseEnabled: true", "SqsManagedSseEnabled: false")
def test_what_the_worker_never_got_is_kept_for_two_weeks_encrypted(stack: Stack) -> None:
    configs = stack.of_type("AWS::Lambda::EventInvokeConfig")
    destination = configs["WorkerFunctionEventInvokeConfig"]["DestinationConfig"]["OnFailure"]["Destination"]
    queue = stack.of_type("AWS::SQS::Queue")[destination["Fn::GetAtt"][0]]

    assert queue["MessageRetentionPeriod"] == FOURTEEN_DAYS
    assert queue["SqsManagedSseEnabled"] is True


@pytest.mark.planted("- !Ref LibraryLayer", "- !Ref DependenciesX86Layer")
@pytest.mark.planted(r"!If \[OnArm, !Ref DependenciesArm64Layer", "!If [OnArm, !Ref DependenciesArmLayer")
@pytest.mark.planted(
    "OnArm, !Ref DependenciesArm64Layer, !Ref DependenciesX86Layer",
    "OnX86, !Ref DependenciesArm64Layer, !Ref DependenciesX86Layer",
)
def test_every_function_has_the_layers_of_its_architecture(stack: Stack) -> None:
    layers = stack.of_type("AWS::Lambda::LayerVersion")
    for function in stack.functions.values():
        dependencies, library = function["Layers"]
        condition, arm, x86 = dependencies["Fn::If"]

        assert condition == "OnArm"
        assert layers[arm["Ref"]]["CompatibleArchitectures"] == ["arm64"]
        assert layers[x86["Ref"]]["CompatibleArchitectures"] == ["x86_64"]
        assert {"arm64", "x86_64"} == set(layers[library["Ref"]]["CompatibleArchitectures"])
        assert function["Architectures"] == [{"Ref": "Architecture"}]
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
def test_every_function_is_a_folder_without_requirements_of_its_own(stack: Stack) -> None:
    for name in FUNCTIONS:
        folder = ROOT / stack.template["Resources"][name]["Properties"]["CodeUri"]

        assert (folder / "app.py").exists()
        assert not (folder / "requirements.txt").exists(), "SAM would build it with the host's Python"


@pytest.mark.planted("RetentionInDays: !Ref LogRetentionDays", "LogGroupClass: STANDARD")
@pytest.mark.planted("LoggingConfig: {LogGroup: !Ref ApiLogs}", "Tracing: Disabled")
@pytest.mark.planted(r"\$\{AWS::StackName\}-worker", "minutehand-worker")
def test_every_function_logs_to_a_group_of_its_stack_that_forgets(stack: Stack) -> None:
    groups = stack.of_type("AWS::Logs::LogGroup")
    for function in stack.functions.values():
        group = groups[function["LoggingConfig"]["LogGroup"]["Ref"]]

        assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}
        assert group["LogGroupName"]["Fn::Sub"].startswith("/aws/lambda/${AWS::StackName}-")


@pytest.mark.planted("Timeout: 60", "Timeout: 60\n      ReservedConcurrentExecutions: 1")
def test_no_concurrency_is_reserved_since_new_accounts_have_none_to_spare(stack: Stack) -> None:
    assert not any("ReservedConcurrentExecutions" in function for function in stack.functions.values())


@pytest.mark.planted(
    "- InVpc\n      - {SubnetIds: !Ref SubnetIds", "- OnArm\n      - {SubnetIds: !Ref SubnetIds"
)
@pytest.mark.planted('SubnetIds:(.*?)Default: ""', 'SubnetIds:\\1Default: "subnet-1"')
def test_functions_are_in_a_network_only_when_its_subnets_are_named(stack: Stack) -> None:
    assert stack.parameters["SubnetIds"] == stack.parameters["SecurityGroupIds"] == ""
    for function in stack.functions.values():
        network = {"SubnetIds": {"Ref": "SubnetIds"}, "SecurityGroupIds": {"Ref": "SecurityGroupIds"}}
        assert function["VpcConfig"]["Fn::If"][0] == "InVpc"
        assert list(branches(function["VpcConfig"])) == [network]


def test_a_removed_stack_leaves_nothing_behind(stack: Stack) -> None:
    for resource in stack.translated["Resources"].values():
        assert resource.get("DeletionPolicy", "Delete") == "Delete"
