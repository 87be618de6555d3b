"""Preparation: what every job passes before it is enqueued."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from minutehand.errors import InvalidJobError
from minutehand.kinds.check import check as check_kind
from minutehand.kinds.check import handler_modules
from minutehand.middleware import Check, enqueue_middleware
from minutehand.model.new_job import NewJob, OnConflict
from minutehand.tracing import spans
from minutehand.tracing.context import TraceContext, of_invocation
from minutehand.tracing.span import Tracer
from minutehand.tracing.spans import tracer_of_settings


@dataclass(frozen=True)
class Preparation:
    """Enqueue middleware, the check of a job's kind, and the current trace, by settings that are read once."""

    middleware: Sequence[Check]
    modules: tuple[str, ...]
    tracer: Tracer | None
    invocation: TraceContext

    @classmethod
    def read(cls) -> "Preparation":
        """Read the settings; raise ConfigurationError for async middleware."""
        return cls(enqueue_middleware(), handler_modules(), tracer_of_settings(), of_invocation())

    def __call__(self, job: NewJob, on_conflict: OnConflict | None = None) -> NewJob:
        """Return the job to enqueue, with the current trace; raise what the middleware raises.

        A job that no handler could run is rejected, where this process knows the handlers. `on_conflict` is that of a
        bulk.
        """
        for check in self.middleware:
            before, job = job, check(job)
            if not isinstance(job, type(before)):
                raise InvalidJobError(
                    "middleware_returns_a_job",
                    f"enqueue middleware must return a NewJob, got {type(job).__name__}",
                )
        check_kind(job, on_conflict, self.modules)
        return spans.prepare(job, self.tracer, self.invocation)


def prepare_all(jobs: Iterable[NewJob], on_conflict: OnConflict) -> Iterator[NewJob | InvalidJobError]:
    """Yield each job as it is enqueued, or the error that rejected it. Settings are read once."""
    prepare = Preparation.read()
    for job in jobs:
        try:
            yield prepare(_checked(job), on_conflict)
        except InvalidJobError as error:
            yield error


def _checked(job: object) -> NewJob:
    if isinstance(job, NewJob):
        return job
    raise InvalidJobError(
        "job_is_a_new_job", f"each job must be a minutehand.NewJob, got {type(job).__name__}"
    )
