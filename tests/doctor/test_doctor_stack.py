"""Stack checks of the doctor: the template's stack is healthy, and each planted fault is found by its check.

moto stands for the control planes. What it does not know is answered here: the account's limits, and the dispatcher.
"""

import json
from typing import Any

import botocore.client
import pytest
from botocore.exceptions import ClientError, NoRegionError
from click.testing import CliRunner

from minutehand.cli.app import cli
from minutehand.doctor import STACK_CHECKS, invocations
from minutehand.doctor.stack import Reach, Stack
from tests.doctor.account import Account, create
from tests.doctor.conftest import Findings
from tests.doctor.stack_faults import STACK_FAULTS


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


@pytest.mark.parametrize("fault", STACK_FAULTS)
def test_fault_is_found_only_by_its_check(account: Account, findings: Findings, fault: str) -> None:
    check, verdict, words, break_it = STACK_FAULTS[fault]
    break_it(account)
    found = findings()

    assert complaints(found) == {check}
    assert (found[check]["verdict"], words in found[check]["found"]) == (verdict, True), found[check]
    assert found[check]["advice"]
    assert "hunter2" not in json.dumps(found)


@pytest.mark.parametrize(
    "fault", ["no route to Lambda", "a dispatcher that hangs", "a dispatcher that is killed"]
)
def test_missing_route_to_lambda_has_advice(account: Account, findings: Findings, fault: str) -> None:
    STACK_FAULTS[fault][3](account)

    assert "an interface endpoint for lambda, or a NAT gateway" in findings()["reach-workers"]["advice"]


def test_worker_route_to_a_missing_function_is_found(account: Account, findings: Findings) -> None:
    account.variables("shop-dispatcher", MINUTEHAND_WORKERS='{"kind:a": "shop-worker-gone:live"}')
    found = findings()

    assert complaints(found) == {"routes", "functions"}
    assert "the dispatcher's routes lead to shop-worker-gone:live" in found["routes"]["found"]


def test_default_retries_of_lambda_are_found(account: Account, findings: Findings) -> None:
    """Without a configuration, Lambda retries twice and keeps events for six hours."""
    account.awslambda.delete_function_event_invoke_config(FunctionName="shop-worker")

    assert complaints(findings()) == {"retries", "event-age", "on-failure"}


def test_stack_in_mode_sleep_has_a_sweep_and_repeats_failed_ticks(
    account: Account, findings: Findings
) -> None:
    account.variables("shop-dispatcher", MINUTEHAND_MODE="sleep")
    account.invoked("shop-dispatcher", MaximumRetryAttempts=2, MaximumEventAgeInSeconds=3600)
    assert complaints(findings()) == {"schedule"}
    account.schedule(ScheduleExpression="rate(360 minutes)")
    assert complaints(findings()) == set()
    account.variables("shop-dispatcher", MINUTEHAND_MODE="")

    assert complaints(findings()) == {"retries", "event-age", "schedule"}


def test_missing_stack_is_reported_without_a_traceback(findings: Findings, account: Account) -> None:
    found = findings("--stack", "without")

    assert {"functions", "schedule"} <= complaints(found)


def test_stack_that_contains_that_of_the_queue_is_searched(account: Account, findings: Findings) -> None:
    queue = account.nest("site")

    found = findings("--stack", "site")

    # Only the dispatcher exists.
    assert f"{queue}-worker" in found["functions"]["found"]
    assert f"{queue}-dispatcher" not in found["functions"]["found"]


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


def test_missing_region_is_a_setting_to_set(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_region(*_arguments: Any, **_options: Any) -> Any:
        raise NoRegionError

    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", without_region)
    ended = CliRunner().invoke(cli, ["doctor", "--stack", "shop"])

    assert ended.exit_code == 2
    assert ended.stderr == "error: AWS_REGION is not set; set it to a region, such as eu-west-1\n"


def test_missing_permission_is_an_error(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(client: Any, operation: str, parameters: Any) -> Any:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "not you"}}, operation)

    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", refuse)
    ended = CliRunner().invoke(cli, ["doctor", "--stack", "shop"])

    assert (ended.exit_code, ended.stdout) == (1, "")
    assert "error: reading from AWS failed: " in ended.stderr
    assert "AccessDeniedException" in ended.stderr


def test_advice_has_a_command_for_each_function(account: Account, findings: Findings) -> None:
    for name in ("shop-worker", "shop-api"):
        account.awslambda.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)

    remove = "aws lambda delete-function-concurrency --function-name"
    advice = findings()["concurrency"]["advice"]
    assert advice.startswith("remove it: ")
    assert set(advice.removeprefix("remove it: ").split("; ")) == {
        f"{remove} shop-worker",
        f"{remove} shop-api",
    }


@pytest.mark.parametrize(("queues", "commands"), [(1, 1), (3, 3), (12, 10)])
def test_advice_has_a_command_for_each_failed_queue(queues: int, commands: int) -> None:
    failures = {f"arn:aws:sqs:eu-central-1:123456789012:failures-{n}": 1 for n in range(queues)}
    advice = invocations.failures(
        Stack(
            dispatcher="d",
            workers=(),
            api="a",
            functions={},
            schedule_name="t",
            schedule=None,
            unreserved=1000,
            failures={**failures, "arn:aws:sqs:eu-central-1:123456789012:empty": 0},
            reach=Reach(),
        )
    ).advice

    command = 'aws sqs receive-message --queue-url "$(aws sqs get-queue-url --queue-name failures-{} --output text)"'
    assert advice == (
        f"read a message: {'; '.join(command.format(n) for n in range(commands))}; "
        "fix its cause, then purge the queue. The jobs become due again by themselves."
    )
