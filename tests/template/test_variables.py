"""The variables that the template sets are those that the code reads, and no secret is among them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from minutehand.settings import Settings, read_settings
from tests.template.stack import ROOT, Stack

NAME = re.compile(r"DATABASE_URL|MINUTEHAND_[A-Z_]*[A-Z]")
LOCAL_ONLY = {
    "MINUTEHAND_LOCAL": "opens the API to the loopback; in Lambda it is not heard",
    "MINUTEHAND_BASE_URL": "says where an application is that has routes; it is read there",
}
READ_BY_OTHERS = {
    "AWS_ENDPOINT_URL_LAMBDA": "boto3, in local runs; empty means the real one",
    "POWERTOOLS_METRICS_NAMESPACE": "Powertools; the alarms look in the namespace of their own stack",
}
NOT_IN_LAMBDA = {"cli", "doctor", "local", "testing"}
# The code that only one function runs.
OWN_CODE = {
    "ApiFunction": ["functions/api"],
    "DispatcherFunction": ["functions/dispatcher.py"],
    "MigrateFunction": ["functions/migrate.py"],
    "WorkerFunction": ["functions/worker.py", "web/delivery"],
}
LIBRARY = ROOT / "shared" / "minutehand"
SECRETS = {"DATABASE_URL", "MINUTEHAND_API_TOKENS", "MINUTEHAND_EVENTS_SECRETS", "MINUTEHAND_HTTP_SECRETS"}


def read_by(place: Path) -> set[str]:
    """The variables whose names are in a file or a folder; `secret(name)` reads `<name>_SECRET` too."""
    return {
        name
        for path in ([place] if place.is_file() else place.rglob("*.py"))
        if not NOT_IN_LAMBDA & set(path.relative_to(LIBRARY).parts)
        for name in names(ast.parse(path.read_text("utf-8")))
        if name not in LOCAL_ONLY
    }


def names(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and NAME.fullmatch(node.value):
            yield node.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "secret":
            yield f"{ast.literal_eval(node.args[0])}_SECRET"


@pytest.mark.planted("MINUTEHAND_CHUNK: !Ref Chunk", "MINUTEHAND_CHUNKS: !Ref Chunk")
@pytest.mark.planted("          MINUTEHAND_GRACE: !Ref Grace\n", "")
@pytest.mark.planted("          MINUTEHAND_HTTP_ALLOW: !Ref HttpAllow\n", "")
@pytest.mark.planted(
    "MINUTEHAND_GRACE: !Ref Grace", "MINUTEHAND_GRACE: !Ref Grace\n          MINUTEHAND_PACE: 1"
)
def test_the_template_sets_exactly_the_variables_that_are_read(stack: Stack) -> None:
    written = set().union(*(stack.variables(function) for function in OWN_CODE))

    assert written - set(READ_BY_OTHERS) == read_by(LIBRARY)


@pytest.mark.planted("          MINUTEHAND_HTTP_ALLOW: !Ref HttpAllow\n", "")
@pytest.mark.planted("          MINUTEHAND_API_TOKENS_SECRET: [^\n]*\n", "")
def test_a_function_has_the_variables_of_its_own_code(stack: Stack) -> None:
    for function, places in OWN_CODE.items():
        for place in places:
            assert read_by(LIBRARY / place) <= set(stack.variables(function))


@pytest.mark.planted('DATABASE_URL: ""', "DATABASE_URL: postgresql://user:password@host/database")
@pytest.mark.planted(
    'MINUTEHAND_API_TOKENS: ""', "MINUTEHAND_API_TOKENS: !Sub '{{resolve:secretsmanager:tokens}}'"
)
def test_no_secret_is_in_the_configuration(stack: Stack) -> None:
    seen = set()
    for function in OWN_CODE:
        for name in SECRETS & stack.variables(function).keys():
            assert stack.variables(function)[name] == ""
            seen.add(name)
    assert seen == SECRETS


@pytest.mark.planted("Default: 120", "Default: 121")
@pytest.mark.planted("MaxConcurrency:(.*?)Default: 50", r"MaxConcurrency:\1Default: 5")
@pytest.mark.planted('MINUTEHAND_WORKERS: "{}"', 'MINUTEHAND_WORKERS: "[]"')
def test_the_defaults_of_template_and_code_are_the_same(stack: Stack) -> None:
    environment = {
        name: str(value) for function in OWN_CODE for name, value in _settings(stack, function).items()
    }

    assert Settings() == read_settings(environment)


@pytest.mark.planted("MaxValue: 10000", "MaxValue: 10001")
@pytest.mark.planted("Grace:(.*?)MinValue: 1", r"Grace:\1MinValue: 0")
def test_the_code_accepts_the_bounds_of_the_template(stack: Stack) -> None:
    for function in OWN_CODE:
        for name, value in stack.functions[function]["Environment"]["Variables"].items():
            facts = stack.template["Parameters"].get(
                value.get("Ref") if isinstance(value, dict) else None, {}
            )
            for bound in {"MinValue", "MaxValue"} & facts.keys():
                read_settings({name: str(facts[bound])})


@pytest.mark.planted('AWS_ENDPOINT_URL_LAMBDA: ""', "POWERTOOLS_LOG_LEVEL: INFO")
def test_a_local_run_may_override_the_lambda_endpoint(stack: Stack) -> None:
    assert stack.variables("DispatcherFunction")["AWS_ENDPOINT_URL_LAMBDA"] == ""


def _settings(stack: Stack, function: str) -> dict[str, object]:
    variables = stack.functions[function]["Environment"]["Variables"]
    return {name: stack.value(value) for name, value in variables.items() if name != "MINUTEHAND_WORKER"}
