"""SnapStart: an import opens no connection, reads no secret and draws no random number."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FUNCTIONS = sorted(path.parent for path in (ROOT / "functions").glob("*/app.py"))
WATCHED = """
import json, os, random, socket, sys, sysconfig, uuid

seen = {"opened": [], "read": [], "drawn": []}
THEIRS = tuple(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))

def ours():
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith("<frozen") or frame.f_code.co_name == "noted":
        frame = frame.f_back
    return not frame.f_code.co_filename.startswith(THEIRS)

def watch(place, name):
    real = getattr(place, name)
    def noted(*given, **named):
        if ours():
            seen["drawn"].append(name)
        return real(*given, **named)
    setattr(place, name, noted)

def hear(event, given):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        seen["opened"].append(event)
    elif event == "open" and str(given[0]) in ("/dev/random", "/dev/urandom") and ours():
        seen["drawn"].append(given[0])

def look_up(environment, name, real=type(os.environ).__getitem__):
    seen["read"].append(name)
    return real(environment, name)

def still_open():
    for number in range(256):
        try:
            with socket.socket(fileno=os.dup(number)) as found:
                if found.family != socket.AF_UNIX:  # an event loop wakes itself through such a pair
                    yield found.family.name
        except OSError:
            pass

for name in "random uniform randint randrange randbytes getrandbits choice choices sample shuffle seed".split():
    watch(random, name)
for name in ("uuid1", "uuid4"):
    watch(uuid, name)
for name in ("urandom", "getrandom"):
    if hasattr(os, name):
        watch(os, name)
type(os.environ).__getitem__ = look_up
sys.addaudithook(hear)
"""
ENVIRONMENT = {
    "DATABASE_URL": "postgresql://u:p@127.0.0.1:1/d",
    "MINUTEHAND_DATABASE_SECRET": "minutehand/database",
    "MINUTEHAND_API_TOKENS": "0123456789abcdef",
    "MINUTEHAND_HTTP_SECRETS": "whsec_MDEyMzQ1Njc4OWFiY2RlZg==",
    "AWS_DEFAULT_REGION": "eu-central-1",
}


def shared(function: Path, *statements: str) -> dict[str, list[str]]:
    """What the memory has of sockets, variables of ours and random numbers, after statements in a function's folder."""
    code = "\n".join([WATCHED, *statements, "seen['opened'] += still_open()", "print(json.dumps(seen))"])
    completed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=function,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    seen: dict[str, list[str]] = json.loads(completed.stdout.splitlines()[-1])
    seen["read"] = [name for name in seen["read"] if name in ENVIRONMENT and not name.startswith("AWS")]
    return seen


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda path: path.name)
def test_import_uses_no_network_no_secret_and_no_randomness(function: Path) -> None:
    assert shared(function, "import app") == {"opened": [], "read": [], "drawn": []}


@pytest.mark.parametrize(
    ("kind", "statement"),
    [
        ("opened", "import socket; left = socket.socket()"),
        ("opened", "import socket; socket.getaddrinfo('localhost', 1)"),
        ("read", "from minutehand.settings import database_url; database_url()"),
        ("read", "import os; os.environ.get('MINUTEHAND_API_TOKENS')"),
        ("drawn", "import uuid; uuid.uuid4()"),
        ("drawn", "import random; random.random()"),
        ("drawn", "import os; os.urandom(8)"),
        ("drawn", "open('/dev/urandom', 'rb').read(1)"),
    ],
)
def test_check_detects_shared_state(kind: str, statement: str) -> None:
    assert shared(FUNCTIONS[-1], "import app", statement)[kind] != []


def drawn_from_memory(text: str) -> Iterator[str]:
    """What code takes of `random` but SystemRandom: the module was seeded when it was imported."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == "random":
            yield from (alias.name for alias in node.names if alias.name != "SystemRandom")
        elif (
            isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "random"
        ):
            yield from [node.attr] if node.attr != "SystemRandom" else []


def test_lambda_code_uses_only_the_system_random_generator() -> None:
    library = [
        path
        for path in (ROOT / "shared" / "minutehand").rglob("*.py")
        if not {"cli", "local", "testing"} & set(path.parts)
    ]
    files = [*library, *(ROOT / "functions").rglob("*.py")]

    drawing = {
        str(path.relative_to(ROOT)): list(drawn_from_memory(path.read_text("utf-8"))) for path in files
    }

    assert {name: what for name, what in drawing.items() if what} == {}
    assert list(drawn_from_memory("from random import uniform, SystemRandom")) == ["uniform"]
    assert list(drawn_from_memory("import random\nrandom.random()\nrandom.SystemRandom()")) == ["random"]
