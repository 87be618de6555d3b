"""docs/ancestors.md answers every feature of the ancestors: by a test that runs, or by a reason."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "ancestors.md"
IDS = [
    line.split()[0]
    for line in (Path(__file__).parent / "ancestors.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
ROW = re.compile(r"\| ([A-Z]{2}\d+) \|")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
SKIPS = {"skip", "skipif", "xfail"}
REASON = re.compile(r"Not supported: .{30,}\.$")


@dataclass(frozen=True)
class Row:
    """A row of the page: id, the ancestor's feature, the feature here, and its tests."""

    id: str
    feature: str
    here: str
    tests: str

    def faults(self) -> Iterator[str]:
        """Yield the reasons why this row does not answer its feature."""
        tests = TEST.findall(self.tests)
        if not self.feature or not self.here:
            yield f"{self.id}: empty cell"
        if not tests and not REASON.match(self.here):
            yield f"{self.id}: neither a test nor a reason"
        for path, name in tests:
            if name not in functions(path):
                yield f"{self.id}: {path} has no {name}"
            elif SKIPS & marks(functions(path)[name]):
                yield f"{self.id}: {name} is skipped"


def rows() -> list[Row]:
    lines = PAGE.read_text("utf-8").splitlines()
    return [
        Row(*(cell.strip() for cell in line.strip("|").split(" | "))) for line in lines if ROW.match(line)
    ]


def test_page_has_one_row_per_feature() -> None:
    assert [row.id for row in rows()] == IDS


def test_rows_name_running_tests_or_a_reason() -> None:
    faults = [fault for row in rows() for fault in row.faults()]

    assert not faults, "\n" + "\n".join(faults)


@cache
def functions(path: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a test file by name; none if the file is missing or skipped as a whole."""
    if not (ROOT / path).exists():
        return {}
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    if SKIPS & {word for node in tree.body if is_pytestmark(node) for word in words(node)}:
        return {}
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
    )


def marks(function: ast.FunctionDef) -> set[str]:
    """Return the attributes used by a function's decorators and its first two statements."""
    nodes = [*function.decorator_list, *(node for node in function.body[:2] if isinstance(node, ast.Expr))]
    return {word for node in nodes for word in words(node)}


def words(node: ast.AST) -> set[str]:
    return {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}
