"""What the command line says of itself."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from minutehand.cli.verbs import ELSEWHERE, EPILOG, VERBS, cli


@pytest.mark.parametrize("verb", [*VERBS])
def test_every_verb_explains_itself_with_examples(verb):
    result = CliRunner().invoke(cli, [verb, "--help"])

    assert result.exit_code == 0
    assert f"minutehand {verb}" in result.stdout
    if ELSEWHERE.get(verb, "minutehand.cli").startswith("minutehand.cli"):
        assert "Examples:" in result.stdout


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "dev"])
def test_the_list_of_verbs_says_what_each_verb_says_of_itself(verb):
    command = cli.commands.get(verb) or cli.get_command(None, verb)
    first = command.help.partition("\n")[0].partition(",")[0].partition(":")[0].partition(";")[0].rstrip(".")

    assert first.split()[0] == VERBS[verb].split()[0]


def test_help_documents_the_exit_codes():
    help = CliRunner().invoke(cli, ["--help"]).stdout

    assert all(f"\n    {code} " in help for code in (0, 1, 2, 3, 4, 130, 141))
    assert "exit codes" in EPILOG.lower()


def test_help_and_version_import_nothing_heavy():
    script = (
        "import sys; from minutehand.cli.verbs import cli\n"
        "try: cli(['--help'])\n"
        "except SystemExit: print(*{'rich', 'boto3', 'uvicorn', 'msgspec'} & set(sys.modules), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)

    assert ended.stderr.strip() == b""


def test_version_and_completion_need_no_database(run):
    assert run("--version").stdout.startswith(b"minutehand 0.")
    for shell in ("bash", "zsh", "fish"):
        assert b"_MINUTEHAND_COMPLETE" in run("completion", shell).stdout


def test_the_shell_is_told_the_verbs():
    ended = subprocess.run(
        [sys.executable, "-c", "from minutehand.cli import main; main()"], capture_output=True, timeout=60,
        env=os.environ | {"_MINUTEHAND_COMPLETE": "bash_complete", "COMP_WORDS": "minutehand re", "COMP_CWORD": "1"},
    )  # fmt: skip

    assert ended.stdout.decode().split() == [f"plain,{verb}" for verb in VERBS if verb.startswith("re")]
    assert "plain,retry" in ended.stdout.decode()
