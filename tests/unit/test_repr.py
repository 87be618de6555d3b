"""The repr of a job, which ends up in logs and error reports, has nothing that may be private."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import walk_packages

import minutehand

# They may contain personal data or secrets. An error quotes the values that a handler got.
PRIVATE = {"payload", "headers", "body", "result", "error"}
# These have messages for operators, types of errors, or what a test expects of a job.
HARMLESS = {
    "minutehand.doctor.stack.Reach",
    "minutehand.settings.report.Reported",
    "minutehand.queries.statistics.Failure",
    "minutehand.model.enqueued.Rejected",
    # Types of errors, without their messages.
    "minutehand.queries.search.JobSearch",
    "minutehand.queries.top.figures.Failing",
    "minutehand.queries.top.figures.Job",
    "minutehand.testing.expect.Expected",
}


# Tools of a developer's machine, one of which needs the AWS CDK, and modules that a Django project loads.
LOCAL = ("minutehand.local", "minutehand.project.cdk", "minutehand.integrations.django.")


def dataclasses() -> Iterator[type]:
    for module in walk_packages(minutehand.__path__, "minutehand."):
        # `__main__` runs the command.
        if "__main__" not in module.name and not module.name.startswith(LOCAL):
            for value in vars(import_module(module.name)).values():
                if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.name:
                    yield value


def test_reprs_leave_out_private_fields() -> None:
    shown = {
        f"{kind.__module__}.{kind.__name__}": names
        for kind in dataclasses()
        if (names := {each.name for each in fields(kind) if each.repr} & PRIVATE)  # type: ignore[arg-type]
    }

    assert "minutehand.model.new_job.NewJob" in {
        f"{kind.__module__}.{kind.__name__}" for kind in dataclasses()
    }
    assert set(shown) <= HARMLESS, shown


def test_repr_of_a_new_job_shows_its_kind_but_no_payload() -> None:
    job = minutehand.NewJob("report", {"iban": "DE00"}, headers={"authorization": "secret"})

    assert "kind='report'" in repr(job)
    assert "DE00" not in repr(job) and "secret" not in repr(job)
