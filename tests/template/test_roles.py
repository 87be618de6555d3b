"""Every role may do what its function does, and nothing else."""

from itertools import product
from typing import Any

import pytest

from tests.template.stack import Stack, arn, branches, listed, policies_of

INTERFACES = "the interfaces of a function in a VPC: Lambda accepts no narrower resource for them"
STARS = {
    "ec2:CreateNetworkInterface": INTERFACES,
    "ec2:DescribeNetworkInterfaces": INTERFACES,
    "ec2:DescribeSubnets": INTERFACES,
    "ec2:DeleteNetworkInterface": INTERFACES,
    "ec2:AssignPrivateIpAddresses": INTERFACES,
    "ec2:UnassignPrivateIpAddresses": INTERFACES,
}
INVOKES = "lambda:InvokeFunction"
READS = "secretsmanager:GetSecretValue"
WRITES_LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}


def rights(stack: Stack, role: str) -> list[tuple[str, Any]]:
    """The pairs of an action and a resource that a role has."""
    return [
        (action, resource)
        for statement in stack.statements(role)
        for action, named in product(listed(statement["Action"]), listed(statement["Resource"]))
        for resource in branches(named)
    ]


def rights_of(stack: Stack, function: str) -> list[tuple[str, Any]]:
    return rights(stack, stack.role_of(function))


@pytest.mark.planted("Action: sqs:SendMessage", 'Action: "sqs:*"')
@pytest.mark.planted("Resource: !GetAtt WorkerFailures.Arn", 'Resource: "*"')
@pytest.mark.planted("Action: lambda:InvokeFunction", "NotAction: lambda:InvokeFunction")
@pytest.mark.planted("ec2:DescribeSubnets", "ec2:DescribeInstances")
@pytest.mark.planted(
    "Resource: !GetAtt WorkerFunction.Arn", "Resource: !Sub arn:aws:lambda:eu-central-1:*:function:*"
)
def test_nobody_may_do_anything_or_something_to_anything_but_for_a_listed_reason(stack: Stack) -> None:
    seen = set()
    for role in stack.of_type("AWS::IAM::Role"):
        for action, resource in rights(stack, role):
            assert "*" not in action
            if "*" in str(resource):
                assert resource == "*"
                assert action in STARS
                seen.add(action)
    assert seen == set(STARS)


@pytest.mark.planted(
    r"ManagedPolicyArns: \[!Ref ReachPostgres\]",
    "ManagedPolicyArns: [arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]",
)
@pytest.mark.planted("      Role: !GetAtt ApiRole.Arn\n", "")
@pytest.mark.planted("Role: !GetAtt ApiRole.Arn", "Role: !GetAtt WorkerRole.Arn")
def test_every_function_has_a_role_of_its_own_that_this_template_spells_out(stack: Stack) -> None:
    for role in stack.of_type("AWS::IAM::Role").values():
        assert all(policy in [{"Ref": "ReachPostgres"}] for policy in policies_of(role))
    assert {"ApiRole", "DispatcherRole", "WorkerRole"} == set(map(stack.role_of, stack.functions))
    assert {"ApiRole", "DispatcherRole", "WorkerRole", "ScheduleRole"} == set(stack.of_type("AWS::IAM::Role"))


@pytest.mark.planted("Resource: !GetAtt WorkerFunction.Arn", "Resource: !GetAtt ApiFunction.Arn")
@pytest.mark.planted("Action: sqs:SendMessage", "Action: lambda:InvokeFunction")
@pytest.mark.planted("Action: sqs:SendMessage", "Action: lambda:InvokeAsync")
@pytest.mark.planted("Resource: !GetAtt DispatcherFunction.Arn", "Resource: !GetAtt WorkerFunction.Arn")
def test_the_schedule_invokes_the_dispatcher_and_the_dispatcher_the_worker_and_the_worker_nobody(
    stack: Stack,
) -> None:
    invocations = {
        role: [right for right in rights(stack, role) if right[0].startswith("lambda:")]
        for role in stack.of_type("AWS::IAM::Role")
    }

    assert invocations == {
        "ScheduleRole": [(INVOKES, arn("DispatcherFunction"))],
        "DispatcherRole": [(INVOKES, arn("WorkerFunction"))],
        "WorkerRole": [],
        "ApiRole": [],
    }


@pytest.mark.planted("Action: sqs:SendMessage", "Action: [sqs:SendMessage, sqs:ReceiveMessage]")
@pytest.mark.planted(
    "Statement:\n +- Effect: Allow\n +Action: sqs:SendMessage\n +Resource: !GetAtt WorkerFailures.Arn\n",
    "Statement:\n",
)
def test_the_worker_writes_its_log_and_its_failures_and_reads_its_secrets(stack: Stack) -> None:
    destination = stack.of_type("AWS::Lambda::EventInvokeConfig")["WorkerFunctionEventInvokeConfig"]
    failures = destination["DestinationConfig"]["OnFailure"]["Destination"]

    own = [right for right in rights_of(stack, "WorkerFunction") if right[0] not in STARS]

    assert {action for action, _ in own} == {"sqs:SendMessage", READS, *WRITES_LOGS}
    assert [failures] == [resource for action, resource in own if action == "sqs:SendMessage"]


@pytest.mark.planted("Resource: !GetAtt ApiLogs.Arn", "Resource: !GetAtt WorkerLogs.Arn")
@pytest.mark.planted("logs:CreateLogStream, logs:PutLogEvents", "logs:CreateLogGroup, logs:PutLogEvents")
def test_every_function_writes_to_its_own_log_and_to_no_other(stack: Stack) -> None:
    for name, function in stack.functions.items():
        group = function["LoggingConfig"]["LogGroup"]["Ref"]
        written = {
            (action, str(resource)) for action, resource in rights_of(stack, name) if action[:5] == "logs:"
        }

        assert written == {(action, str(arn(group))) for action in WRITES_LOGS}


@pytest.mark.planted("Resource: !Ref ApiTokensSecretArn", "Resource: !Ref HttpSecretsSecretArn")
@pytest.mark.planted("Resource: !Ref DatabaseUrlSecretArn", "Resource: !Ref ApiTokensSecretArn")
@pytest.mark.planted("MINUTEHAND_DATABASE_SECRET: !Ref DatabaseUrlSecretArn\n", "DATABASE_SECRET: no\n")
def test_every_function_reads_the_secrets_that_its_variables_name_and_no_others(stack: Stack) -> None:
    for name, function in stack.functions.items():
        variables = function["Environment"]["Variables"]
        named = [value for variable, value in variables.items() if variable.endswith("_SECRET")]
        readable = [resource for action, resource in rights_of(stack, name) if action == READS]

        assert sorted(map(str, named)) == sorted(map(str, readable))
        assert {"Ref": "DatabaseUrlSecretArn"} in readable


@pytest.mark.planted("Service: scheduler.amazonaws.com", 'AWS: "*"')
@pytest.mark.planted("Service: lambda.amazonaws.com", "Service: ec2.amazonaws.com")
@pytest.mark.planted("Condition: {StringEquals: {aws:SourceAccount: !Ref AWS::AccountId}}", "Sid: Tick")
def test_roles_are_taken_on_by_lambda_and_by_this_account_s_schedules_only(stack: Stack) -> None:
    own_account = {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    for name, role in stack.of_type("AWS::IAM::Role").items():
        (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
        scheduled = name == "ScheduleRole"

        assert statement["Principal"] == {
            "Service": f"{'scheduler' if scheduled else 'lambda'}.amazonaws.com"
        }
        assert statement.get("Condition") == (own_account if scheduled else None)


@pytest.mark.planted(
    r"Properties: \{ApiId: !Ref Api\}", "Properties: {ApiId: !Ref Api, Path: /jobs, Method: GET}"
)
def test_the_api_gets_every_request_and_only_its_gateway_may_call_it(stack: Stack) -> None:
    (permission,) = stack.of_type("AWS::Lambda::Permission").values()

    assert list(stack.of_type("AWS::ApiGatewayV2::Api")["Api"]["Body"]["paths"]) == ["$default"]
    assert (permission["FunctionName"], permission["Principal"]) == (
        {"Ref": "ApiFunction"},
        "apigateway.amazonaws.com",
    )
    assert "SourceArn" in permission
