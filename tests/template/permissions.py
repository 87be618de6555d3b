"""The permissions of the roles: actions, resources and the reasons for wildcards."""

from itertools import product
from typing import Any

from tests.template.stack import Deployed, Stack, branches, listed

INTERFACES = "the interfaces of a function in a VPC: Lambda accepts no narrower resource for them"


STARS = {
    "ec2:CreateNetworkInterface": INTERFACES,
    "ec2:DescribeNetworkInterfaces": INTERFACES,
    "ec2:DescribeSubnets": INTERFACES,
    "ec2:DeleteNetworkInterface": INTERFACES,
    "ec2:AssignPrivateIpAddresses": INTERFACES,
    "ec2:UnassignPrivateIpAddresses": INTERFACES,
    "xray:PutTraceSegments": "X-Ray has no resource that is narrower",
    "xray:PutTelemetryRecords": "X-Ray has no resource that is narrower",
}


FUNCTION = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${AWS::StackName}-worker"


PARTLY = {f"{FUNCTION}-*": "further workers are named after the stack, and the dispatcher invokes them all"}


ATTACHED = {"ReachPostgres", "TellEvents", "UseEncryption", "UseKey", "UseNetwork", "WriteTraces"}


ROLES = {"ApiRole", "DispatcherRole", "MigrateRole", "WorkerRole"}


INVOKES = "lambda:InvokeFunction"


READS = "secretsmanager:GetSecretValue"


TO_CONNECT = {"rds-db:connect", "kms:Decrypt"}


TO_ENCRYPT = {"kms:GenerateDataKey", "kms:Decrypt"}


TO_TELL = {"events:PutEvents", "sns:Publish"}


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


def invocations(deployed: Deployed) -> dict[str, list[tuple[str, Any]]]:
    """What each role may do with functions."""
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
