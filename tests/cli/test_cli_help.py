"""The help of the command line."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from minutehand.cli.app import COMMANDS, EPILOG, cli


@pytest.mark.parametrize("command", [*COMMANDS])
def test_command_help_has_examples(command):
    result = CliRunner().invoke(cli, [command, "--help"])

    assert result.exit_code == 0
    assert f"minutehand {command}" in result.stdout
    if command not in ("dev", "pipeline"):
        assert "Examples:" in result.stdout


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "dev"])
def test_list_of_commands_agrees_with_their_help(command):
    first = cli.get_command(None, command).help.split()[0]

    assert first == COMMANDS[command].split()[0]


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
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)

    assert ended.stderr.strip() == b""


def test_version_and_completion_need_no_database(execute):
    assert execute("--version").stdout.startswith(b"minutehand 0.")
    for shell in ("bash", "zsh", "fish"):
        assert b"_MINUTEHAND_COMPLETE" in execute("completion", shell).stdout


def test_shell_completion_lists_commands():
    ended = subprocess.run(
        [sys.executable, "-c", "from minutehand.cli import main; main()"],
        capture_output=True,
        timeout=60,
        env=os.environ
        | {"_MINUTEHAND_COMPLETE": "bash_complete", "COMP_WORDS": "minutehand re", "COMP_CWORD": "1"},
    )

    assert ended.stdout.decode().split() == [
        f"plain,{command}" for command in COMMANDS if command.startswith("re")
    ]
    assert "plain,retry" in ended.stdout.decode()
