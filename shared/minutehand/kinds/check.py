"""Check: reject a job that no handler could run, before it is enqueued.

With MINUTEHAND_HANDLERS, this process knows the modules of all handlers: an unknown kind is rejected, and so is a
payload that a decorated function could not be called with. Without it, or if a module is not installed here, only
payloads of imported functions are checked, and a kind that is unknown next to them is logged.
"""

import logging
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module

from minutehand.errors import UndeclaredKindError
from minutehand.kinds import registry
from minutehand.kinds.declaration import Declaration, check_kind
from minutehand.kinds.index import files, has_file, known_kinds, module_of
from minutehand.model.new_job import NewJob, OnConflict
from minutehand.model.suggestion import closest, suggestion
from minutehand.settings.table import HANDLERS, OTHER_KINDS

# Handlers that every worker has, and the folder next to the worker's code.
BUILT_IN, FOLDER = ("echo", "http", "pipeline"), "handlers"

logger = logging.getLogger(__name__)


def check(job: NewJob, on_conflict: OnConflict | None = None, modules: tuple[str, ...] | None = None) -> None:
    """Raise UndeclaredKindError or PayloadError for a job that no handler could run; log it where that is uncertain.

    `modules` are those of `handler_modules`, which a bulk reads once.
    """
    modules = handler_modules() if modules is None else modules
    if not modules and registry.is_empty():
        return
    # A payload that is merged into another one may be a part.
    _check(job, modules, is_part=(job.on_conflict or on_conflict) == "merge")
    if job.on_dead is not None:
        _check(
            NewJob(job.on_dead, headers=job.headers) if isinstance(job.on_dead, str) else job.on_dead, modules
        )


def check_callback(callback: NewJob | str) -> None:
    """Raise UndeclaredKindError for a callback that no handler could run, as `check` does.

    Its payload is not checked, because the end of the batch adds a field to it.
    """
    job = NewJob(callback) if isinstance(callback, str) else callback
    check_kind(job.kind)
    modules = handler_modules()
    if modules or not registry.is_empty():
        _check(job, modules, is_part=True)


def _check(job: NewJob, modules: tuple[str, ...], *, is_part: bool = False) -> None:
    # An invalid one may not even be Unicode, which the search in the texts of the modules requires.
    check_kind(job.kind)
    declaration = registry.find(job.kind) or (_import(job.kind, modules) if modules else None)
    if declaration is not None:
        if not is_part:
            declaration.arguments.check(job.payload)
    elif not _is_known(job, modules):
        if modules:
            raise UndeclaredKindError(job.kind, closest(job.kind, _known(modules)), modules)
        _warn(job.kind)


def handler_modules() -> tuple[str, ...]:
    """Return the modules of all handlers; none if they are not known or not installed here."""
    modules = HANDLERS.read()
    return modules if modules and _are_installed(modules) else ()


@cache
def _are_installed(modules: tuple[str, ...]) -> bool:
    return all(files((module,)) for module in modules)


def _is_known(job: NewJob, modules: tuple[str, ...]) -> bool:
    if job.kind in BUILT_IN or any(fnmatchcase(job.kind, each) for each in OTHER_KINDS.read()):
        return True
    if _has_handler(job.kind, modules):
        return True
    # Imported only when used, for the sake of cold starts.
    from minutehand.web.signatures import ROUTE_HEADER

    return isinstance(job.headers, dict) and ROUTE_HEADER in job.headers


@cache
def _has_handler(kind: str, modules: tuple[str, ...]) -> bool:
    places = (*modules, FOLDER)
    return has_file(kind, places) or module_of(kind, places) is not None


@cache
def _known(modules: tuple[str, ...]) -> frozenset[str]:
    return frozenset([*known_kinds((*modules, FOLDER)), *registry.registered(), *BUILT_IN])


@cache
def _import(kind: str, modules: tuple[str, ...]) -> Declaration | None:
    """Return the kind's declaration. A module that cannot be imported must not prevent its jobs.

    Raises ConfigurationError if a module cannot be parsed, because its kinds are then unknown.
    """
    if (module := module_of(kind, modules)) is None:
        return None
    try:
        import_module(module)
        return registry.find(kind)
    except Exception as error:
        logger.warning("payloads of kind %s are not checked, since its module fails: %s", kind, error)
        return None


@cache
def _warn(kind: str) -> None:
    """Log an unknown kind, once."""
    logger.warning(
        "kind %r is not declared in this process%s; set MINUTEHAND_HANDLERS to reject unknown kinds",
        kind,
        suggestion(kind, _known(())),
    )
