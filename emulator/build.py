"""Build: build functions and layers like `sam build`, for a local Python."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from emulator.cache import IGNORED, Cache, digest
from emulator.errors import BuildError
from emulator.parts import architecture, install, provide_runtime, provide_server
from emulator.template import Function, Layer, Template

PRINT_VERSION = """import sys
print("%d.%d" % sys.version_info[:2], getattr(sys, "_base_executable", "") or sys.executable)"""
OUTSIDE_PATH = re.compile(r"\.\./[\w./-]+")


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """A Python interpreter for the functions."""

    path: Path
    version: str
    """For example 3.13."""


@dataclass(frozen=True, kw_only=True)
class Built:
    """The files of an execution environment."""

    server: Path
    runtime: Path
    python: Interpreter
    architecture: str
    functions: Mapping[str, Path]
    layers: Mapping[str, Path]

    def path_of(self, function: Function) -> list[Path]:
        """Return the module search path: the function, its layers (the last one first), the runtime."""
        layers = [self.layers[id] / "python" for id in reversed(function.layers) if id in self.layers]
        return [self.functions[function.id], *layers, self.runtime]


def build(template: Template, cache: Cache, python: str | None, report: Callable[[str], None]) -> Built:
    """Build everything that has changed."""
    wanted = {function.runtime.removeprefix("python") for function in template.functions.values()}
    interpreter = choose_python(wanted, python, report)
    used = {id for function in template.functions.values() for id in function.layers}
    return Built(
        server=provide_server(cache),
        runtime=_compiled(provide_runtime(cache, interpreter.version), interpreter),
        python=interpreter,
        architecture=architecture(),
        functions={id: _build_function(each, cache, interpreter) for id, each in template.functions.items()},
        layers={
            id: _build_layer(template.layers[id], cache, interpreter)
            for id in sorted(used & template.layers.keys())
        },
    )


def choose_python(wanted: set[str], given: str | None, report: Callable[[str], None]) -> Interpreter:
    """Return the given interpreter, or the template's if it is on the PATH, or the current one."""
    if given is not None:
        if (found := _inspect(given)) is None:
            raise BuildError(f"{given} is not a working Python interpreter; choose another with --python")
    else:
        found = next(filter(None, (_inspect(f"python{version}") for version in sorted(wanted))), None)
    here = Interpreter(path=_bare(), version=f"{sys.version_info.major}.{sys.version_info.minor}")
    found = found or here
    if wanted != {found.version}:
        names = " and ".join(sorted(wanted))
        report(
            f"built for Python {found.version}: {names} of the template is not on the PATH"
            if given is None
            else f"built for Python {found.version} as requested; the template specifies {names}"
        )
    return found


def _inspect(name: str) -> Interpreter | None:
    """Return an interpreter by its name or path, or None if it does not run."""
    path = shutil.which(name)
    if path is None:
        return None
    done = subprocess.run([path, "-I", "-c", PRINT_VERSION], capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    version, _, executable = done.stdout.strip().partition(" ")
    return Interpreter(path=Path(executable), version=version)


def _bare() -> Path:
    """Return the base interpreter of this virtual environment, which functions must not see."""
    return Path(getattr(sys, "_base_executable", "") or sys.executable)


def _build_function(function: Function, cache: Cache, python: Interpreter) -> Path:
    if not function.code.is_dir():
        raise BuildError(f"{function.id}: its CodeUri {function.code} is not a directory")
    inputs = [digest(function.code), str(python.path), python.version]

    def fill(folder: Path) -> None:
        shutil.copytree(function.code, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*IGNORED))
        if (requirements := folder / "requirements.txt").exists():
            install(folder, python.version, "--requirement", str(requirements))
        compile_in(folder, python)

    return cache.make(function.id, inputs, fill)


def _build_layer(layer: Layer, cache: Cache, python: Interpreter) -> Path:
    makefile = layer.content / "Makefile"
    if not layer.makefile:
        return layer.content
    if not makefile.is_file():
        raise BuildError(f"{layer.id}: {makefile} does not exist")
    inputs = [
        digest(layer.content, *_outside_inputs(layer.content)),
        layer.id,
        str(python.path),
        python.version,
    ]
    return cache.make(layer.id, inputs, lambda folder: _make(layer, folder, python))


def _outside_inputs(content: Path) -> list[Path]:
    """Return the inputs of a Makefile outside its directory: sibling files and the directories that it names."""
    files = [path for path in sorted(content.parent.iterdir()) if path.is_file()]
    names = OUTSIDE_PATH.findall((content / "Makefile").read_text("utf-8"))
    folders = {(base / name).resolve() for name in names for base in (content, content.parent)}
    return [
        *files,
        *sorted(folder for folder in folders if folder.is_dir() and folder not in content.parents),
    ]


def _make(layer: Layer, folder: Path, python: Interpreter) -> None:
    """Run the Makefile like SAM, in a copy of its directory, with the version of Python as an additional variable."""
    scratch = folder / ".scratch"
    shutil.copytree(layer.content, scratch, ignore=shutil.ignore_patterns(*IGNORED))
    done = subprocess.run(
        [
            "make",
            "--silent",
            "--makefile",
            layer.content / "Makefile",
            f"build-{layer.id}",
            f"VERSION={python.version}",
            f"PYTHON={python.path}",
            f"HOST_PYTHON={sys.executable}",
            f"PIP={sys.executable} -m pip",
        ],
        cwd=scratch,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "ARTIFACTS_DIR": str(folder)},
    )
    if done.returncode:
        raise BuildError(f"{layer.id} could not be built:\n{done.stderr.strip() or done.stdout.strip()}")
    shutil.rmtree(scratch)
    if not any(folder.iterdir()):
        raise BuildError(
            f"{layer.id}: build-{layer.id} of {layer.content}/Makefile wrote nothing to ARTIFACTS_DIR"
        )
    compile_in(folder, python)


def _compiled(folder: Path, python: Interpreter) -> Path:
    mark = folder / ".compiled"
    if not mark.exists():
        compile_in(folder, python)
        mark.touch()
    return folder


def compile_in(folder: Path, python: Interpreter) -> None:
    """Compile all modules, because execution environments cannot store compiled ones."""
    subprocess.run(
        [python.path, "-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", folder],
        capture_output=True,
        check=False,
    )
