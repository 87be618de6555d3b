"""The permissions of the roles: actions, resources and the reasons for wildcards."""

from itertools import product
from typing import Any

from tests.template.stack import Deployed, Stack, branches, listed

INTERFACES = "network interfaces of a function in a VPC; Lambda accepts no narrower resource"
STARS = {
    "ec2:CreateNetworkInterface": INTERFACES,
    "ec2:DescribeNetworkInterfaces": INTERFACES,
    "ec2:DescribeSubnets": INTERFACES,
    "ec2:DeleteNetworkInterface": INTERFACES,
    "ec2:AssignPrivateIpAddresses": INTERFACES,
    "ec2:UnassignPrivateIpAddresses": INTERFACES,
    "xray:PutTraceSegments": "X-Ray has no narrower resource",
    "xray:PutTelemetryRecords": "X-Ray has no narrower resource",
}
FUNCTION = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${AWS::StackName}-worker"
ATTACHED = {
    "EncryptPayloads",
    "ReachPostgres",
    "CreateWakeups",
    "TellEvents",
    "UseEncryption",
    "UseKey",
    "UseNetwork",
    "WriteTraces",
}
ROLES = {"ApiRole", "DispatcherRole", "MigrateRole", "WorkerRole"}
DISPATCHER = (
    "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${AWS::StackName}-dispatcher"
)
# The names of wake-ups contain their minutes.
WAKEUPS = "arn:${AWS::Partition}:scheduler:${AWS::Region}:${AWS::AccountId}:schedule/${AWS::StackName}/"
INVOKES = "lambda:InvokeFunction"
READS = "secretsmanager:GetSecretValue"
TO_CONNECT = {"rds-db:connect", "kms:Decrypt"}
TO_ENCRYPT = {"kms:GenerateDataKey", "kms:Decrypt"}
TO_TELL = {"events:PutEvents", "sns:Publish"}
TO_CREATE_WAKEUPS = {"scheduler:CreateSchedule", "iam:PassRole"}
TO_RUN_THE_PIPELINE = {"emr-serverless:StartJobRun", "emr-serverless:ListJobRuns", "iam:PassRole"}
WRITES_LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}


def rights(stack: Stack, role: str) -> list[tuple[str, Any]]:
    """Return the pairs of action and resource that a role allows."""
    return [
        (action, resource)
        for statement in stack.statements(role)
        for action, named in product(listed(statement["Action"]), listed(statement["Resource"]))
        for resource in branches(named)
    ]


def rights_of(stack: Stack, function: str) -> list[tuple[str, Any]]:
    return rights(stack, stack.role_of(function))


def invocations(deployed: Deployed) -> dict[str, list[tuple[str, Any]]]:
    """Return the Lambda actions and resources of each role."""
    policies = deployed.of_type("AWS::IAM::ManagedPolicy")
    return {
        name: [
            (action, resource)
            for policy in [
                *role["Policies"],
                *(policies[attached["Ref"]] for attached in role.get("ManagedPolicyArns", [])),
            ]
            for statement in policy["PolicyDocument"]["Statement"]
            for action, resource in product(listed(statement["Action"]), listed(statement["Resource"]))
            if action.startswith("lambda:")
        ]
        for name, role in deployed.of_type("AWS::IAM::Role").items()
    }
