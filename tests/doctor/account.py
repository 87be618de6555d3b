"""An AWS account with one stack, in moto. It answers calls that moto does not support."""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import boto3
import botocore.client
from botocore.exceptions import ClientError
from botocore.response import StreamingBody

SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:jobs-AbCdEf"
client = cache(boto3.client)  # creating a client is slow
WELL = {"ok": True, "ms": 12, "error": ""}


def ill(error: str) -> dict[str, Any]:
    return {"ok": False, "ms": 9000, "error": error}


@dataclass
class Account:
    """An account with one stack, `shop`, and the responses that moto lacks."""

    awslambda: Any = field(default_factory=lambda: client("lambda"))
    scheduler: Any = field(default_factory=lambda: client("scheduler"))
    sqs: Any = field(default_factory=lambda: client("sqs"))
    role: str = ""
    unreserved: int = 1000
    answer: Any = field(default_factory=lambda: {"database": WELL, "workers": {"shop-worker": WELL}})
    error: str = ""
    nested: dict[str, str] = field(default_factory=dict)

    def variables(self, name: str, **changed: str) -> None:
        """Set variables of a function. An empty value removes one."""
        before = self.awslambda.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        after = {key: value for key, value in (before | changed).items() if value}
        self.configure(name, Environment={"Variables": after})

    def configure(self, name: str, **settings: Any) -> None:
        self.awslambda.update_function_configuration(FunctionName=name, **settings)

    def invoked(self, name: str, **settings: Any) -> None:
        """Set the delivery options for a function's events."""
        config = self.awslambda.get_function_event_invoke_config(FunctionName=name)
        names = ("MaximumRetryAttempts", "MaximumEventAgeInSeconds", "DestinationConfig")
        before = {key: config[key] for key in names if key in config}
        self.awslambda.delete_function_event_invoke_config(
            FunctionName=name
        )  # moto keeps the first configuration
        self.awslambda.put_function_event_invoke_config(FunctionName=name, **before | settings)

    def answers(self, error: str = "", **answer: Any) -> None:
        """Set the response of the dispatcher, or make it fail with an error."""
        self.answer, self.error = ({"errorMessage": error}, "Unhandled") if error else (answer, "")

    def schedule(self, **changes: Any) -> None:
        tick = self.scheduler.get_schedule(GroupName="shop", Name="shop-tick")
        target = tick["Target"] | changes.pop("Target", {})
        unchanged = {
            key: tick[key]
            for key in ("GroupName", "Name", "ScheduleExpression", "State", "FlexibleTimeWindow")
        }
        self.scheduler.update_schedule(**{**unchanged, "Target": target, **changes})

    def layer(self, name: str, **settings: Any) -> str:
        version = self.awslambda.publish_layer_version(
            LayerName=name, Content={"ZipFile": archive()}, **settings
        )
        return str(version["LayerVersionArn"])

    def add_layer(self, name: str, **settings: Any) -> None:
        self.configure("shop-worker", Layers=[self.layer(name, **settings)])

    def nest(self, stack: str) -> str:
        """Create a stack that contains another one with a dispatcher; return the name of that."""
        self.nested[stack] = name = f"{stack}-Queue-1A2B3C4D5E6F"
        create(self, f"{name}-dispatcher")
        return name

    @property
    def failures(self) -> str:
        return str(self.sqs.get_queue_url(QueueName="shop-failures")["QueueUrl"])


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("app.py", "handler = None")
    return file.getvalue()


def deploy(account: Account) -> None:
    """Create the resources of the template that the doctor examines."""
    document = json.dumps({"Version": "2012-10-17", "Statement": []})
    role = client("iam").create_role(RoleName="shop", AssumeRolePolicyDocument=document)
    account.role = role["Role"]["Arn"]
    layer = account.layer(
        "dependencies", CompatibleArchitectures=["arm64"], CompatibleRuntimes=["python3.13"]
    )
    for name in ("shop-dispatcher", "shop-worker", "shop-worker-reports", "shop-api"):
        create(account, name, layer)
    queue = account.sqs.create_queue(QueueName="shop-failures")["QueueUrl"]
    arn = account.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"][
        "QueueArn"
    ]
    for name in ("shop-dispatcher", "shop-worker", "shop-worker-reports"):
        target = {"DestinationConfig": {"OnFailure": {"Destination": arn}}} if "worker" in name else {}
        account.awslambda.put_function_event_invoke_config(
            FunctionName=name, MaximumRetryAttempts=0, MaximumEventAgeInSeconds=60, **target
        )
    account.variables(
        "shop-dispatcher",
        MINUTEHAND_WORKER="shop-worker",
        MINUTEHAND_CAPACITY="50",
        MINUTEHAND_WORKERS='{"queue:reports": "shop-worker-reports"}',
        MINUTEHAND_OFFER_TTL="120",
    )
    account.scheduler.create_schedule_group(Name="shop")
    account.scheduler.create_schedule(
        GroupName="shop",
        Name="shop-tick",
        ScheduleExpression="rate(1 minute)",
        State="ENABLED",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={
            "Arn": arn_of("shop-dispatcher"),
            "RoleArn": account.role,
            "RetryPolicy": {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60},
        },
    )


def create(account: Account, name: str, *layers: str) -> None:
    account.awslambda.create_function(
        FunctionName=name,
        Runtime="python3.13",
        Handler="app.handler",
        Role=account.role,
        Timeout=29,
        Code={"ZipFile": archive()},
        Architectures=["arm64"],
        Layers=list(layers),
        Environment={"Variables": {"MINUTEHAND_DATABASE_SECRET": SECRET}},
    )


def arn_of(name: str) -> str:
    return f"arn:aws:lambda:eu-central-1:123456789012:function:{name}"


def resources_of(account: Account, stack: str) -> dict[str, Any]:
    """Return the resources of a stack, as CloudFormation does: the part of it in moto needs more packages."""
    if stack not in account.nested:
        message = f"Stack with id {stack} does not exist"
        raise ClientError({"Error": {"Code": "ValidationError", "Message": message}}, "ListStackResources")
    arn = f"arn:aws:cloudformation:eu-central-1:123456789012:stack/{account.nested[stack]}/1"
    resource = {"ResourceType": "AWS::CloudFormation::Stack", "PhysicalResourceId": arn}
    return {"StackResourceSummaries": [{"ResourceType": "AWS::IAM::Role"}, resource]}


def answering(account: Account) -> Callable[..., Any]:
    """Respond to the calls that moto does not support."""
    ask = botocore.client.BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: Any, operation: str, parameters: Any) -> Any:
        if operation == "GetAccountSettings":
            return {"AccountLimit": {"UnreservedConcurrentExecutions": account.unreserved}}
        if operation == "ListStackResources":
            return resources_of(account, parameters["StackName"])
        if operation != "Invoke":
            return ask(client, operation, parameters)
        assert parameters["FunctionName"].endswith("-dispatcher")
        assert parameters["Payload"] == b'{"check": true}'
        if isinstance(account.answer, Exception):
            raise account.answer
        body = json.dumps(account.answer).encode()
        answer = {"Payload": StreamingBody(io.BytesIO(body), len(body))}
        return answer | ({"FunctionError": account.error} if account.error else {})

    return call
