"""The import graph has no cycles, imports under TYPE_CHECKING included, and the library's root stays small."""

from collections.abc import Mapping

import grimp
import pytest

PACKAGES = ("minutehand", "minutehand_pipeline")
MAX_ROOT_MODULES = 16


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, exclude_type_checking_imports=False)


def cycles(imports: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components with more than one module (Tarjan, 1972)."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        index[module] = lowest[module] = len(index)
        stack.append(module)
        for imported in imports.get(module, ()):
            if imported not in index:
                visit(imported)
            if imported in stack:
                lowest[module] = min(lowest[module], lowest[imported])
        if lowest[module] == index[module]:
            start = stack.index(module)
            component, stack[start:] = stack[start:], []
            found.append(sorted(component))

    for module in imports:
        if module not in index:
            visit(module)
    return sorted(component for component in found if len(component) > 1)


@pytest.mark.parametrize("package", PACKAGES)
def test_package_has_no_import_cycle(graph: grimp.ImportGraph, package: str) -> None:
    modules = {module for module in graph.modules if module.split(".")[0] == package}
    imports = {module: graph.find_modules_directly_imported_by(module) & modules for module in modules}

    assert cycles(imports) == []


def test_cycle_search_finds_cycles() -> None:
    imports = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": {"f"}, "f": {"e"}, "g": {"g", "a"}}

    assert cycles(imports) == [["a", "b", "c"], ["e", "f"]]


def test_library_root_has_at_most_16_modules(graph: grimp.ImportGraph) -> None:
    children = graph.find_children("minutehand")
    modules = {child for child in children if not graph.find_children(child)}

    assert len(modules) <= MAX_ROOT_MODULES, sorted(modules)
