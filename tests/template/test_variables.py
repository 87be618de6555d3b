"""The template sets the variables that the functions read, and no secrets."""

import pytest

from minutehand.settings import Settings, read_settings
from minutehand.settings.table import SETTINGS
from tests.template.stack import Stack

READ_BY_OTHERS = {
    "AWS_ENDPOINT_URL_LAMBDA": "boto3, in local runs; empty means the real one",
    "POWERTOOLS_METRICS_NAMESPACE": "Powertools, in every function; alarms use the namespace of their stack",
}
FUNCTIONS = {
    "ApiFunction": "api",
    "DispatcherFunction": "dispatcher",
    "MigrateFunction": "migrate",
    "WorkerFunction": "worker",
}
SECRETS = {"DATABASE_URL", "MINUTEHAND_API_TOKENS", "MINUTEHAND_EVENTS_SECRETS", "MINUTEHAND_HTTP_SECRETS"}


@pytest.mark.planted("MINUTEHAND_CHUNK: !Ref Chunk", "MINUTEHAND_CHUNKS: !Ref Chunk")
@pytest.mark.planted("          MINUTEHAND_GRACE: !Ref Grace\n", "")
@pytest.mark.planted("          MINUTEHAND_HTTP_ALLOW: !Ref HttpAllow\n", "")
@pytest.mark.planted(
    "MINUTEHAND_GRACE: !Ref Grace", "MINUTEHAND_GRACE: !Ref Grace\n          MINUTEHAND_PACE: 1"
)
@pytest.mark.planted("          MINUTEHAND_API_TOKENS_SECRET: [^\n]*\n", "")
def test_template_sets_every_variable_that_a_function_reads(stack: Stack) -> None:
    for function, part in FUNCTIONS.items():
        written = stack.variables(function).keys() - READ_BY_OTHERS.keys()

        read = {name for name, setting in SETTINGS.items() if part in setting.read_by}
        assert written == read - READ_BY_OTHERS.keys()


@pytest.mark.planted('DATABASE_URL: ""', "DATABASE_URL: postgresql://user:password@host/database")
@pytest.mark.planted(
    'MINUTEHAND_API_TOKENS: ""', "MINUTEHAND_API_TOKENS: !Sub '{{resolve:secretsmanager:tokens}}'"
)
def test_configuration_of_functions_contains_no_secret(stack: Stack) -> None:
    seen = set()
    for function in FUNCTIONS:
        for name in SECRETS & stack.variables(function).keys():
            assert stack.variables(function)[name] == ""
            seen.add(name)
    assert seen == SECRETS


@pytest.mark.planted("Default: 120", "Default: 121")
@pytest.mark.planted("MaxConcurrency:(.*?)Default: 50", r"MaxConcurrency:\1Default: 5")
@pytest.mark.planted('MINUTEHAND_WORKERS: &routes "{}"', 'MINUTEHAND_WORKERS: &routes "[]"')
def test_defaults_of_template_and_code_are_equal(stack: Stack) -> None:
    for function in FUNCTIONS:
        environment = {name: str(value) for name, value in _settings(stack, function).items()}

        assert Settings() == read_settings(environment)


@pytest.mark.planted("MaxValue: 10000", "MaxValue: 10001")
@pytest.mark.planted("Grace:(.*?)MinValue: 1", r"Grace:\1MinValue: 0")
def test_ranges_of_template_parameters_are_valid(stack: Stack) -> None:
    for function in FUNCTIONS:
        for name, value in stack.functions[function]["Environment"]["Variables"].items():
            facts = stack.template["Parameters"].get(
                value.get("Ref") if isinstance(value, dict) else None, {}
            )
            for bound in {"MinValue", "MaxValue"} & facts.keys():
                read_settings({name: str(facts[bound])})


@pytest.mark.planted('AWS_ENDPOINT_URL_LAMBDA: ""', "POWERTOOLS_LOG_LEVEL: INFO")
def test_local_run_can_set_the_endpoint_of_lambda(stack: Stack) -> None:
    assert stack.variables("DispatcherFunction")["AWS_ENDPOINT_URL_LAMBDA"] == ""


def _settings(stack: Stack, function: str) -> dict[str, object]:
    """Return the literal values that the template sets."""
    return {name: value for name, value in stack.variables(function).items() if not isinstance(value, dict)}
