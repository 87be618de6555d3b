"""Stack checks of the doctor: the template's stack is healthy, and each planted fault is found by its check.

moto stands for the control planes. What it does not know is answered here: the account's limits, and the dispatcher.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import boto3
import botocore.client
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from botocore.response import StreamingBody
from click.testing import CliRunner
from moto import mock_aws

from minutehand.cli.app import cli
from minutehand.doctor import STACK_CHECKS

SECRET = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:jobs-AbCdEf"
client = cache(boto3.client)  # they take longer to make than all that a test does with them
WELL = {"ok": True, "ms": 12, "error": ""}


def ill(error: str) -> dict[str, Any]:
    return {"ok": False, "ms": 9000, "error": error}


@dataclass
class Account:
    """An account with one stack, `shop`, and what is not moto's to answer."""

    awslambda: Any = field(default_factory=lambda: client("lambda"))
    scheduler: Any = field(default_factory=lambda: client("scheduler"))
    sqs: Any = field(default_factory=lambda: client("sqs"))
    role: str = ""
    unreserved: int = 1000
    answer: Any = field(default_factory=lambda: {"database": WELL, "workers": {"shop-worker": WELL}})
    error: str = ""

    def variables(self, name: str, **changed: str) -> None:
        """Set some of a function's variables; empty is none."""
        before = self.awslambda.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        after = {key: value for key, value in (before | changed).items() if value}
        self.configure(name, Environment={"Variables": after})

    def configure(self, name: str, **settings: Any) -> None:
        self.awslambda.update_function_configuration(FunctionName=name, **settings)

    def invoked(self, name: str, **settings: Any) -> None:
        """Set how Lambda treats a function's events."""
        config = self.awslambda.get_function_event_invoke_config(FunctionName=name)
        names = ("MaximumRetryAttempts", "MaximumEventAgeInSeconds", "DestinationConfig")
        before = {key: config[key] for key in names if key in config}
        self.awslambda.delete_function_event_invoke_config(
            FunctionName=name
        )  # moto keeps the first that was put
        self.awslambda.put_function_event_invoke_config(FunctionName=name, **before | settings)

    def answers(self, error: str = "", **answer: Any) -> None:
        """Have the dispatcher answer this, or fail with an error."""
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

    @property
    def failures(self) -> str:
        return str(self.sqs.get_queue_url(QueueName="shop-failures")["QueueUrl"])


def archive() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("app.py", "handler = None")
    return file.getvalue()


def deploy(account: Account) -> None:
    """Make what the template makes, as far as the doctor looks."""
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
        "shop-dispatcher", MINUTEHAND_WORKER="shop-worker", MINUTEHAND_CAPACITY="50",
        MINUTEHAND_WORKERS='{"queue:reports": "shop-worker-reports"}', MINUTEHAND_OFFER_TTL="120",
    )  # fmt: skip
    account.scheduler.create_schedule_group(Name="shop")
    account.scheduler.create_schedule(
        GroupName="shop", Name="shop-tick", ScheduleExpression="rate(1 minute)", State="ENABLED",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": arn_of("shop-dispatcher"), "RoleArn": account.role,
                "RetryPolicy": {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}},
    )  # fmt: skip


def create(account: Account, name: str, *layers: str) -> None:
    account.awslambda.create_function(
        FunctionName=name, Runtime="python3.13", Handler="app.handler", Role=account.role, Timeout=29,
        Code={"ZipFile": archive()}, Architectures=["arm64"], Layers=list(layers),
        Environment={"Variables": {"MINUTEHAND_DATABASE_SECRET": SECRET}},
    )  # fmt: skip


def arn_of(name: str) -> str:
    return f"arn:aws:lambda:eu-central-1:123456789012:function:{name}"


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        account = Account()
        deploy(account)
        monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", answering(account))
        yield account


def answering(account: Account) -> Callable[..., Any]:
    """What moto does not answer."""
    ask = botocore.client.BaseClient._make_api_call  # type: ignore[attr-defined]

    def call(client: Any, operation: str, parameters: Any) -> Any:
        if operation == "GetAccountSettings":
            return {"AccountLimit": {"UnreservedConcurrentExecutions": account.unreserved}}
        if operation != "Invoke":
            return ask(client, operation, parameters)
        assert parameters == {"FunctionName": "shop-dispatcher", "Payload": b'{"check": true}'}
        if isinstance(account.answer, Exception):
            raise account.answer
        body = json.dumps(account.answer).encode()
        answer = {"Payload": StreamingBody(io.BytesIO(body), len(body))}
        return answer | ({"FunctionError": account.error} if account.error else {})

    return call


@pytest.fixture
def findings(
    account: Account, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> Callable[..., dict[str, Any]]:
    """Run the command, and return what it printed by check."""
    monkeypatch.chdir(tmp_path)

    def findings(*arguments: str) -> dict[str, Any]:
        ended = CliRunner().invoke(cli, ["doctor", "--stack", "shop", "-o", "json", *arguments])
        printed = [json.loads(line) for line in ended.stdout.splitlines()]
        assert ended.exit_code == any(line["verdict"] == "problem" for line in printed), ended.output
        return {line["check"]: line for line in printed}

    return findings


Findings = Callable[..., dict[str, Any]]


def complaints(found: dict[str, Any]) -> set[str]:
    return {check for check, line in found.items() if line["verdict"] in ("warning", "problem")}


def test_healthy_stack_passes_every_check(findings: Findings) -> None:
    found = findings()

    assert {
        check: line for check, line in found.items() if check in STACK_CHECKS and line["verdict"] != "ok"
    } == {}
    assert set(STACK_CHECKS) <= set(found)
    assert complaints(found) == set()
    assert found["reachable"]["found"] == "DATABASE_URL is not set here; see reach-database"


# A check, how it complains, words that name the fault, and the fault.
PLANTS: dict[str, tuple[str, str, str, Callable[[Account], Any]]] = {
    "no api": ("functions", "problem", "the function shop-api does not exist",
               lambda a: a.awslambda.delete_function(FunctionName="shop-api")),
    "an old runtime": ("runtime", "problem", "shop-api runs python3.9",
                       lambda a: a.configure("shop-api", Runtime="python3.9")),
    "a layer for another runtime": ("runtime", "problem", "its layer other is for python3.11",
                                    lambda a: a.add_layer("other", CompatibleRuntimes=["python3.11"])),
    "a layer for another processor": ("architecture", "problem", "its layer intel is for x86_64",
                                      lambda a: a.add_layer("intel", CompatibleArchitectures=["x86_64"])),
    "a worker without time": ("timeouts", "problem", "shop-worker has a timeout of 1 s",
                              lambda a: a.configure("shop-worker", Timeout=1)),
    "a dispatcher without time": ("timeouts", "problem", "shop-dispatcher has a timeout of 3 s",
                                  lambda a: a.configure("shop-dispatcher", Timeout=3)),
    "an api with too much time": ("timeouts", "problem", "API Gateway waits 30 s",
                                  lambda a: a.configure("shop-api", Timeout=60)),
    "no database": ("variables", "problem", "shop-worker has neither DATABASE_URL nor",
                    lambda a: a.variables("shop-worker", MINUTEHAND_DATABASE_SECRET="", X="1")),
    "a password in the open": ("variables", "problem", "shop-worker has DATABASE_URL in plain text",
                               lambda a: a.variables("shop-worker", DATABASE_URL="postgresql://a:hunter2@h/d")),
    "an endpoint elsewhere": ("variables", "problem", "which points away from AWS",
                              lambda a: a.variables("shop-dispatcher", AWS_ENDPOINT_URL_LAMBDA="http://h:9001")),
    "a grace that is no number": ("variables", "problem", "MINUTEHAND_GRACE must be an integer",
                                  lambda a: a.variables("shop-worker", MINUTEHAND_GRACE="long")),
    "routes that are no JSON": ("variables", "problem", "MINUTEHAND_WORKERS must be a JSON object",
                                lambda a: a.variables("shop-dispatcher", MINUTEHAND_WORKERS="[")),
    "nobody to invoke": ("variables", "problem", "shop-dispatcher has no MINUTEHAND_WORKER",
                         lambda a: a.variables("shop-dispatcher", MINUTEHAND_WORKER="")),
    "a short offer": ("offer-ttl", "problem", "offers last 60 s",
                      lambda a: a.variables("shop-dispatcher", MINUTEHAND_OFFER_TTL="60")),
    "retries": ("retries", "problem", "Lambda retries shop-worker-reports 2 times",
                lambda a: a.invoked("shop-worker-reports", MaximumRetryAttempts=2)),
    "a dispatcher that is retried": ("retries", "problem", "Lambda retries shop-dispatcher 1 times",
                                     lambda a: a.invoked("shop-dispatcher", MaximumRetryAttempts=1)),
    "late events": ("event-age", "problem", "Lambda keeps events of shop-worker for 90 s",
                    lambda a: a.invoked("shop-worker", MaximumEventAgeInSeconds=90)),
    "no destination": ("on-failure", "problem", "shop-worker has no on-failure destination", lambda a: (
        a.awslambda.delete_function_event_invoke_config(FunctionName="shop-worker"),
        a.awslambda.put_function_event_invoke_config(
            FunctionName="shop-worker", MaximumRetryAttempts=0, MaximumEventAgeInSeconds=60))),
    "no queue": ("on-failure", "problem", "the on-failure queue shop-failures does not exist",
                 lambda a: a.sqs.delete_queue(QueueUrl=a.failures)),
    "failures": ("failures", "warning", "2 in shop-failures",
                 lambda a: [a.sqs.send_message(QueueUrl=a.failures, MessageBody="{}") for _ in range(2)]),
    "no schedule": ("schedule", "problem", "the schedule does not exist: shop-tick",
                    lambda a: a.scheduler.delete_schedule(GroupName="shop", Name="shop-tick")),
    "a schedule that sleeps": ("schedule", "problem", "shop-tick is disabled", lambda a: a.schedule(State="DISABLED")),
    "a rare schedule": ("schedule", "problem", "is rate(5 minutes), not every minute",
                        lambda a: a.schedule(ScheduleExpression="rate(5 minutes)")),
    "another target": ("schedule", "problem", "invokes shop-api, not shop-dispatcher",
                       lambda a: a.schedule(Target={"Arn": arn_of("shop-api")})),
    "a schedule that retries": ("schedule", "problem", "retries 3 times", lambda a: a.schedule(
        Target={"RetryPolicy": {"MaximumRetryAttempts": 3, "MaximumEventAgeInSeconds": 60}})),
    "a schedule that is late": ("schedule", "problem", "keeps an event for 600 s", lambda a: a.schedule(
        Target={"RetryPolicy": {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 600}})),
    "little reserved": ("concurrency", "warning", "shop-worker can run 10 times at once, but the capacity is 50",
                        lambda a: a.awslambda.put_function_concurrency(
                            FunctionName="shop-worker", ReservedConcurrentExecutions=10)),
    "a function that is off": ("concurrency", "problem", "shop-dispatcher has a reserved concurrency of 0",
                               lambda a: a.awslambda.put_function_concurrency(
                                   FunctionName="shop-dispatcher", ReservedConcurrentExecutions=0)),
    "a small account": ("concurrency", "warning", "can run 10 times at once", lambda a: setattr(a, "unreserved", 10)),
    "no way to the database": ("reach-database", "problem", "no route",
                               lambda a: a.answers(database=ill("UnreachableError: no route"), workers={})),
    "no right to invoke": ("reach-workers", "problem", "cannot invoke shop-worker: ClientError: AccessDenied",
                           lambda a: a.answers(database=WELL, workers={"shop-worker": ill("ClientError: AccessDenied")})),
    "no way to Lambda": ("reach-workers", "problem", "ConnectTimeoutError",
                         lambda a: a.answers(database=WELL, workers={"shop-worker": ill("ConnectTimeoutError")})),
    "a dispatcher that hangs": ("reach-workers", "problem", "no answer in 30 s",
                                lambda a: setattr(a, "answer", ReadTimeoutError(endpoint_url="lambda"))),
    "a dispatcher that is killed": ("reach-workers", "problem", "Task timed out after 60.00 seconds",
                                    lambda a: a.answers(error="Task timed out after 60.00 seconds")),
    "a dispatcher that fails": ("reach-workers", "problem", "the dispatcher failed: no module",
                                lambda a: a.answers(error="no module")),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTS)
def test_fault_is_found_only_by_its_check(account: Account, findings: Findings, fault: str) -> None:
    check, verdict, words, plant = PLANTS[fault]
    plant(account)
    found = findings()

    assert complaints(found) == {check}
    assert (found[check]["verdict"], words in found[check]["found"]) == (verdict, True), found[check]
    assert found[check]["advice"]
    assert "hunter2" not in json.dumps(found)


@pytest.mark.parametrize(
    "fault", ["no way to Lambda", "a dispatcher that hangs", "a dispatcher that is killed"]
)
def test_missing_route_to_lambda_has_advice(account: Account, findings: Findings, fault: str) -> None:
    PLANTS[fault][3](account)

    assert "an interface endpoint for lambda, or a NAT gateway" in findings()["reach-workers"]["advice"]


def test_worker_route_to_a_missing_function_is_found(account: Account, findings: Findings) -> None:
    account.variables("shop-dispatcher", MINUTEHAND_WORKERS='{"kind:a": "shop-worker-gone:live"}')
    found = findings()

    assert complaints(found) == {"routes", "functions"}
    assert "the dispatcher's routes lead to shop-worker-gone:live" in found["routes"]["found"]


def test_default_retries_of_lambda_are_found(account: Account, findings: Findings) -> None:
    """A function about whose events nothing is said is retried twice, and its events are kept for six hours."""
    account.awslambda.delete_function_event_invoke_config(FunctionName="shop-worker")

    assert complaints(findings()) == {"retries", "event-age", "on-failure"}


def test_missing_stack_is_reported_without_a_traceback(findings: Findings, account: Account) -> None:
    found = findings("--stack", "without")

    assert {"functions", "schedule"} <= complaints(found)


def test_functions_may_have_other_names(account: Account, findings: Findings) -> None:
    create(account, "gateway")
    account.awslambda.delete_function(FunctionName="shop-api")

    assert complaints(findings()) == {"functions"}
    assert complaints(findings("--function", "api=gateway")) == set()


def test_unreadable_layer_is_accepted(findings: Findings, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = botocore.client.BaseClient._make_api_call  # type: ignore[attr-defined]

    def refuse(client: Any, operation: str, parameters: Any) -> Any:
        if operation != "GetLayerVersion":
            return ask(client, operation, parameters)
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "not you"}}, operation)

    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", refuse)

    assert complaints(findings()) == set()


def test_missing_permission_is_an_error(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(client: Any, operation: str, parameters: Any) -> Any:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "not you"}}, operation)

    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", refuse)
    ended = CliRunner().invoke(cli, ["doctor", "--stack", "shop"])

    assert (ended.exit_code, ended.stdout) == (1, "")
    assert "error: reading from AWS failed: " in ended.stderr
    assert "AccessDeniedException" in ended.stderr
