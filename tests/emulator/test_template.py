"""Templates and builds: supported templates, and the error for each unsupported one."""

import shutil
from pathlib import Path

import pytest

from emulator.build import choose_python
from emulator.errors import BuildError, EmulatorError, TemplateError
from emulator.template import read_template
from tests.emulator.conftest import ROOT, STACK, NewLambda


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Copy the small stack and return its template."""
    shutil.copytree(STACK.parent, tmp_path / "stack", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "stack" / "template.yaml"


def test_template_applies_defaults_and_globals() -> None:
    template = read_template(STACK, {})
    echo, patient, brief = (template.functions[name] for name in ("Echo", "Patient", "Brief"))

    assert (echo.name, echo.timeout, echo.memory, echo.reserved) == ("minutehand-echo", 60, 256, None)
    assert (echo.retries, echo.age, echo.layers) == (2, 21600, ("Words",))
    assert [schedule.name for schedule in echo.schedules] == ["Tick"]
    assert (patient.name, patient.timeout, patient.retries, patient.age) == ("minutehand-Patient", 60, 0, 60)
    assert patient.variables == {"GREETING": "hello", "EVERYWHERE": "1"}
    assert brief.timeout == 1


def test_condition_is_evaluated_with_the_parameters() -> None:
    assert read_template(STACK, {"Reserved": "3"}).functions["Echo"].reserved == 3


def test_project_template_is_supported_on_both_architectures() -> None:
    for architecture, layer in (("arm64", "DependenciesArm64Layer"), ("x86_64", "DependenciesX86Layer")):
        template = read_template(ROOT / "template.yaml", {"Architecture": architecture})

        assert {"DispatcherFunction", "WorkerFunction", "ApiFunction"} <= template.functions.keys()
        worker = template.functions["WorkerFunction"]
        assert layer in worker.layers and set(worker.layers) <= template.layers.keys()
        assert worker.retries == 0
        assert template.functions["DispatcherFunction"].variables["MINUTEHAND_WORKER"] == worker.name
        assert template.functions["DispatcherFunction"].schedules
        assert template.functions["ApiFunction"].http


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Resources: [", "is not supported"),
        (
            "Resources: {F: {Type: AWS::Serverless::Function, Properties: {CodeUri: !If [Nope, a, b]}}}",
            "does not have the condition Nope",
        ),
    ],
)
def test_unsupported_template_is_a_one_line_error(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "template.yaml").write_text(text)

    with pytest.raises(TemplateError, match=says):
        read_template(tmp_path / "template.yaml", {})


def test_missing_template_or_parameter_is_named(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"none\.yaml cannot be read"):
        read_template(tmp_path / "none.yaml", {})
    with pytest.raises(TemplateError, match="does not have the parameter Greetings"):
        read_template(STACK, {"Greetings": "x"})


def test_changed_function_is_rebuilt(new_lambda: NewLambda, project: Path) -> None:
    first = new_lambda(project)
    assert first.invoke("Echo").error is None
    (project.parent / "function" / "app.py").write_text("def handler(event, context): return 'new'")

    assert new_lambda(project).invoke("Echo").json() == "new"
    assert first.invoke("Echo").json() != "new"


def test_failed_layer_build_reports_the_reason(new_lambda: NewLambda, project: Path, tmp_path: Path) -> None:
    makefile = project.parent / "layer" / "Makefile"
    makefile.write_text("build-Words:\n\t@echo out of words >&2; exit 3\n")
    with pytest.raises(BuildError, match=r"Words could not be built:\nout of words"):
        new_lambda(project)
    makefile.write_text("build-Words:\n\t@true\n")
    with pytest.raises(BuildError, match=r"Words: build-Words of .* wrote nothing"):
        new_lambda(project)
    makefile.unlink()
    with pytest.raises(BuildError, match=r"Words: .*Makefile does not exist"):
        new_lambda(project)


def test_unknown_function_error_lists_known_functions(new_lambda: NewLambda) -> None:
    with pytest.raises(EmulatorError, match="the function Nobody; it contains Echo, Patient"):
        new_lambda().invoke("Nobody")


def test_missing_python_is_a_one_line_error() -> None:
    messages: list[str] = []

    found = choose_python({"3.99"}, None, messages.append)

    assert messages == [f"built for Python {found.version}: 3.99 of the template is not on the PATH"]
    assert "venv" not in str(found.path)
    with pytest.raises(BuildError, match="is not a working Python"):
        choose_python({"3.99"}, "/nowhere/python", messages.append)
