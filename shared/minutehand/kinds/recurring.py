"""Recurring: the schedules of decorated functions with `every`."""

from importlib import import_module

from minutehand.kinds import registry
from minutehand.kinds.index import index
from minutehand.schedules.schedule import Schedule


def declared_schedules(modules: tuple[str, ...]) -> list[Schedule]:
    """Return the schedules that these modules and packages declare; only modules with schedules are imported."""
    recurring = [each for each in index(modules, containing=b"every").values() if each.recurs]
    for module in sorted({each.module for each in recurring}):
        import_module(module)
    found = (registry.find(each.kind) for each in recurring)
    return [
        Schedule(each.kind, each.every, each.new_job(None, {}), zone=each.zone)
        for each in found
        if each is not None and each.every is not None
    ]
