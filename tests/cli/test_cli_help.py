"""The help of the command line."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from minutehand.cli.app import EPILOG, cli
from minutehand.cli.command_names import COMMANDS


@pytest.mark.parametrize("command", [*COMMANDS])
def test_command_help_has_examples(command):
    result = CliRunner().invoke(cli, [command, "--help"])

    assert result.exit_code == 0
    assert f"minutehand {command}" in result.stdout
    if command != "pipeline":
        assert "Examples:" in result.stdout


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "dev"])
def test_list_of_commands_agrees_with_their_help(command):
    first = cli.get_command(None, command).help.split()[0]

    assert first == COMMANDS[command].split()[0]


def commands(command, *path):
    """Yield the words of a command and of those below it."""
    yield path
    for name in command.list_commands(None) if isinstance(command, click.Group) else ():
        yield from commands(command.get_command(click.Context(command), name), *path, name)


def test_every_help_fits_80_columns():
    texts = {
        words: CliRunner().invoke(cli, [*words, "--help"], terminal_width=80).stdout
        for words in commands(cli)
    }

    assert len(texts) > 60
    assert [
        (words, line) for words, text in texts.items() for line in text.splitlines() if len(line) > 80
    ] == []


def test_help_of_commands_names_no_folder_of_a_checkout():
    texts = {command: CliRunner().invoke(cli, [command, "--help"]).stdout for command in COMMANDS}

    assert [
        command for command, text in texts.items() if "functions/worker" in text or "events/seed" in text
    ] == []


def test_help_documents_the_exit_codes():
    help = CliRunner().invoke(cli, ["--help"]).stdout

    assert all(f"\n    {code} " in help for code in (0, 1, 2, 3, 4, 5, 6, 130, 141))
    assert "exit codes" in EPILOG.lower()


def test_help_and_version_import_no_heavy_module():
    script = (
        "import sys; from minutehand.cli.app import cli\n"
        "try: cli(['--help'])\n"
        "except SystemExit: print(*{'rich', 'boto3', 'uvicorn', 'msgspec'} & set(sys.modules), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=180)

    assert ended.stderr.strip() == b""


def test_version_and_completion_need_no_database(execute):
    assert execute("--version").stdout.startswith(b"minutehand 0.")
    for shell in ("bash", "zsh", "fish"):
        assert b"_MINUTEHAND_COMPLETE" in execute("completion", shell).stdout


def completions(words: str, folder: Path | None = None) -> list[str]:
    """Return what the shell would offer for the last word."""
    ended = subprocess.run(
        [sys.executable, "-c", "from minutehand.cli import main; main()"],
        capture_output=True,
        timeout=180,
        cwd=folder,
        env=os.environ
        | {"_MINUTEHAND_COMPLETE": "bash_complete", "COMP_WORDS": words}
        | {"COMP_CWORD": str(words.count(" ")), "MINUTEHAND_HANDLERS": "shop.jobs"},
    )
    return ended.stdout.decode().split()


def test_shell_completion_lists_commands():
    assert completions("minutehand re") == [
        f"plain,{command}" for command in COMMANDS if command.startswith("re")
    ]


def test_shell_completion_lists_the_kinds_of_this_folder(tmp_path):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/jobs.py").write_text(
        "from minutehand import job\n@job\ndef mail(): ...\nraise SystemExit"
    )
    handlers = tmp_path / "functions/worker/handlers/mail"
    handlers.mkdir(parents=True)
    (handlers / "remind.py").write_text("def handle(payload): ...")
    (handlers / "_text.py").write_text("def handle(payload): ...")

    assert completions("minutehand enqueue m", tmp_path) == ["plain,mail", "plain,mail.remind"]
    assert completions("minutehand ls --kind e", tmp_path) == ["plain,echo"]


def test_similar_kinds_and_commands_are_suggested(invoke, tmp_path, monkeypatch):
    handlers = tmp_path / "functions/worker/handlers"
    handlers.mkdir(parents=True)
    (handlers / "welcome.py").write_text("def handle(payload): ...")
    monkeypatch.chdir(tmp_path)
    # Another test may have imported its own handlers.
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not Path(path, "handlers").is_dir()])
    for name in [name for name in sys.modules if name.split(".")[0] == "handlers"]:
        monkeypatch.delitem(sys.modules, name)

    assert "did you mean 'ls'?" in invoke("lss").output
    assert "did you mean 'welcome'?" in invoke("enqueue", "welcom").output
    assert "did you mean" not in invoke("enqueue", "welcome").output + invoke("enqueue", "sms").output


def test_command_without_its_package_suggests_no_other_command(invoke, monkeypatch):
    monkeypatch.delitem(sys.modules, "minutehand.cli.commands.pipeline", raising=False)
    for name in [name for name in sys.modules if name.split(".")[0] == "minutehand_pipeline"]:
        monkeypatch.delitem(sys.modules, name)
    # As Python does with a package that is not installed.
    monkeypatch.setitem(sys.modules, "minutehand_pipeline", None)

    install = "run: pip install 'minutehand-pipeline[spark]' (see minutehand --help)"
    printed = invoke("pipeline").output
    assert (install in printed, "did you mean" in printed) == (True, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["enqueue", "welcom"], "kind 'welcom' has no handler"),
        (["enqueue", "welcome", '{"email": 1}'], "Expected `str`, got `int` - at `$.email`"),
        (["schedules", "put", "daily", "@daily", "welcome"], "missing required field `email`"),
        (["batches", "open", "--on-failure", "welcom"], "did you mean 'welcome'?"),
    ],
)
def test_job_that_the_project_cannot_run_is_rejected(run, direct_database, tmp_path, arguments, message):
    (tmp_path / "pyproject.toml").write_text('[tool.minutehand]\nhandlers = ["shop"]\n')
    (tmp_path / "shop.py").write_text("from minutehand import job\n@job\ndef welcome(email: str): ...\n")

    ended = run(*arguments, url=direct_database.url, cwd=tmp_path)

    assert (ended.returncode, message in ended.stderr.decode()) == (2, True)
