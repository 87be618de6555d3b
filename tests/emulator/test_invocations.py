"""Synchronous invocations: functions and callers see the same as on Lambda."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from emulator import Emulator
from tests.emulator.conftest import NewLambda, ended
from tests.waiting import until


def ask(lambda_: Emulator, event: object, function: str = "Echo", **more: Any) -> tuple[Any, Any]:
    """Invoke through boto3; the response and its payload."""
    response = lambda_.client().invoke(FunctionName=function, Payload=json.dumps(event), **more)
    text = response["Payload"].read()
    return response, json.loads(text) if text else None


def refusal(lambda_: Emulator, event: object = None, **more: Any) -> ClientError:
    with pytest.raises(ClientError) as raised:
        ask(lambda_, event, **more)
    return raised.value


def test_function_receives_the_variables_of_lambda(lambda_: Emulator) -> None:
    response, payload = ask(lambda_, {"a": [1, None, "ü"]})

    assert response["StatusCode"] == 200
    assert response["ExecutedVersion"] == "$LATEST"
    assert "FunctionError" not in response
    assert payload["event"] == {"a": [1, None, "ü"]}
    assert payload["id"] == response["ResponseMetadata"]["RequestId"]
    assert payload["name"] == "minutehand-echo"
    assert payload["arn"] == lambda_.function("Echo").arn
    assert payload["memory"] == "256"
    assert 0 < payload["left"] <= 60_000
    assert payload["environment"]["AWS_LAMBDA_FUNCTION_NAME"] == "minutehand-echo"
    assert payload["environment"]["AWS_REGION"] == payload["environment"]["AWS_DEFAULT_REGION"] == "us-east-1"
    assert "AWS_LAMBDA_FUNCTION_TIMEOUT" not in payload["environment"]


def test_variables_come_from_template_parameters_and_caller(
    new_lambda: NewLambda,
) -> None:
    lambda_ = new_lambda(
        parameters={"Greeting": "good day"},
        environment={"EVERYWHERE": "2", "Echo": {"HERE": "3"}},
        stack="shop",
    )

    _, payload = ask(lambda_, {})
    _, other = ask(lambda_, {}, "Patient")

    variables = payload["environment"]
    assert variables["GREETING"] == "good day"
    assert variables["OTHER"] == "shop-Patient"
    assert variables["OTHER_ARN"] == lambda_.function("Patient").arn
    assert variables["JOINED"] == "good day, shop-Patient"
    assert variables["EVERYWHERE"] == "2"
    assert variables["HERE"] == "3" and "HERE" not in other["environment"]


def test_layers_are_importable_and_test_packages_are_not(lambda_: Emulator) -> None:
    _, (words, word, boto3, *path) = ask(lambda_, {"do": "layer"})

    assert word == "from the layer"
    assert "Words-" in words
    assert "runtime-" in boto3
    assert not [folder for folder in path if "site-packages" in folder]


@pytest.mark.parametrize("name", ["Echo", "minutehand-echo", "ARN", "ARN:$LATEST"])
def test_function_is_found_by_logical_id_name_and_arn(lambda_: Emulator, name: str) -> None:
    _, payload = ask(lambda_, {}, name.replace("ARN", lambda_.function("Echo").arn))

    assert payload["name"] == "minutehand-echo"


def test_exception_is_an_unhandled_error_and_keeps_the_environment(lambda_: Emulator) -> None:
    response, payload = ask(lambda_, {"do": "throw"})
    _, after = ask(lambda_, {})

    assert (response["StatusCode"], response["FunctionError"]) == (200, "Unhandled")
    assert (payload["errorType"], payload["errorMessage"]) == ("ValueError", "no such thing")
    assert [line for line in payload["stackTrace"] if "throw" in line]
    assert lambda_.meter.functions["Echo"].cold_starts == 1
    assert after["pid"] in {environment.pid for environment in lambda_.pool("Echo").environments}


def test_exit_is_an_error_and_ends_the_environment(lambda_: Emulator) -> None:
    _, before = ask(lambda_, {})
    response, payload = ask(lambda_, {"do": "leave"})
    _, after = ask(lambda_, {})

    assert response["FunctionError"] == "Unhandled"
    assert payload["errorType"] == "Runtime.ExitError"
    assert "exit status 9" in payload["errorMessage"]
    assert before["pid"] != after["pid"] and ended(before["pid"])


def test_timeout_kills_the_environment(lambda_: Emulator, tmp_path: Path) -> None:
    # A cold start on a busy machine may exceed the timeout.
    before = until(lambda: payload if "pid" in (payload := ask(lambda_, {}, "Brief")[1]) else None)
    response, payload = ask(lambda_, {"do": "wait", "folder": str(tmp_path)}, "Brief")

    assert response["FunctionError"] == "Unhandled"
    assert payload["errorMessage"].endswith("Task timed out after 1.00 seconds")
    assert ended(before["pid"])


def test_import_error_of_a_function_is_reported(new_lambda: NewLambda, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "app.py").write_text("import nothing_of_this_name")
    (tmp_path / "template.yaml").write_text(
        "Resources: {Broken: {Type: AWS::Serverless::Function, Properties: {CodeUri: code}}}"
    )

    response, payload = ask(new_lambda(tmp_path / "template.yaml"), {}, "Broken")

    assert response["FunctionError"] == "Unhandled"
    assert payload["errorType"] == "Runtime.ImportModuleError"


def test_log_tail_and_all_lines_are_returned(new_lambda: NewLambda) -> None:
    lines: list[tuple[str, str]] = []
    lambda_ = new_lambda(log=lambda function, line: lines.append((function, line)))

    response, _ = ask(lambda_, {"do": "throw"}, LogType="Tail")

    tail = base64.b64decode(response["LogResult"]).decode()
    assert tail.startswith("did throw\n[ERROR] ValueError: no such thing\nTraceback")
    assert lines[0] == ("Echo", "did throw")
    assert {function for function, _ in lines} == {"Echo"}


def test_invalid_calls_are_rejected_like_lambda(lambda_: Emulator) -> None:
    six, one = "x" * (6 * 1024 * 1024), "x" * (1024 * 1024)

    codes = [
        refusal(lambda_, six).response,
        refusal(lambda_, one, InvocationType="Event").response,
        refusal(lambda_, function="Nobody").response,
        refusal(lambda_, function="Echo:live").response,
    ]

    assert [(each["ResponseMetadata"]["HTTPStatusCode"], each["Error"]["Code"]) for each in codes] == [
        (413, "RequestTooLargeException"),
        (413, "RequestTooLargeException"),
        (404, "ResourceNotFoundException"),
        (404, "ResourceNotFoundException"),
    ]
    with pytest.raises(ClientError, match="InvalidRequestContentException"):
        lambda_.client().invoke(FunctionName="Echo", Payload=b"{")
    assert lambda_.meter.total.invocations == 0


def test_response_above_the_size_limit_is_an_error(lambda_: Emulator) -> None:
    response, payload = ask(lambda_, {"do": "large", "bytes": 6 * 1024 * 1024 + 200})

    assert response.get("FunctionError") == "Unhandled", str(payload)[:200]
    assert payload["errorType"] == "Function.ResponseSizeTooLarge"


def test_dry_run_does_not_invoke_the_function(lambda_: Emulator) -> None:
    response = lambda_.client().invoke(FunctionName="Echo", InvocationType="DryRun")

    assert response["StatusCode"] == 204
    assert lambda_.pool("Echo").environments == []


def test_meter_counts_billed_usage(lambda_: Emulator) -> None:
    answers = [lambda_.invoke("Echo"), lambda_.invoke("Echo", {"do": "throw"})]

    read = lambda_.meter.functions["Echo"]
    assert (read.invocations, read.cold_starts, read.errors, read.throttles) == (2, 1, 1, 0)
    assert read.billed_ms >= sum(answer.ms + answer.init_ms for answer in answers)
    assert read.gb_seconds == pytest.approx(read.billed_ms / 1000 * 256 / 1024)
    assert answers[0].cold and answers[0].init_ms > 0 and not answers[1].cold
