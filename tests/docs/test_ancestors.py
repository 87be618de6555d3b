"""Every line of the ancestors is answered on their page: by a test that runs, or by a sentence that says why not."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "ancestors.md"
IDS = [
    line.split()[0]
    for line in (Path(__file__).parent / "ancestors.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
ROW = re.compile(r"\| ([A-Z]{2}\d+) \|")
A_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
NOT_RUN = {"skip", "skipif", "xfail"}
WITHOUT = "Without:"


@dataclass(frozen=True)
class Answer:
    """A row: the line's id, what the ancestor has, what it is here, and the tests that show it."""

    id: str
    theirs: str
    here: str
    shown: str

    @property
    def tests(self) -> list[tuple[str, str]]:
        return A_TEST.findall(self.shown)


def answers() -> list[Answer]:
    lines = PAGE.read_text("utf-8").splitlines()
    return [
        Answer(*(cell.strip() for cell in line.strip("|").split(" | "))) for line in lines if ROW.match(line)
    ]


def test_every_line_of_the_ancestors_has_one_row() -> None:
    assert [answer.id for answer in answers()] == IDS


@pytest.mark.parametrize("answer", answers(), ids=lambda answer: answer.id)
def test_a_row_names_tests_that_run_or_says_why_it_is_better_without(answer: Answer) -> None:
    assert answer.theirs and answer.here
    if not answer.tests:
        assert answer.here.startswith(WITHOUT) and answer.here.endswith("."), "neither a test nor a reason"
        assert len(answer.here) > 40
    for path, name in answer.tests:
        assert name in functions(path), f"{path} has no {name}"
        assert not NOT_RUN & marks(functions(path)[name]), f"{name} is not run"


@cache
def functions(path: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    assert not NOT_RUN & {word for node in tree.body if is_pytestmark(node) for word in words(node)}
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
    )


def marks(function: ast.FunctionDef) -> set[str]:
    """Return the words of a function's decorators, and whether it begins by skipping."""
    return {word for decorator in function.decorator_list for word in words(decorator)} | {
        word
        for statement in function.body[:2]
        if isinstance(statement, ast.Expr)
        for word in words(statement)
    }


def words(node: ast.AST) -> set[str]:
    return {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
