"""Run a command of the pipeline on EMR Serverless and wait for its end, as docs/pipeline/cluster.md explains."""

from datetime import UTC, datetime, timedelta
from uuid import uuid5

from minutehand import Cancel, Fail, Job, Snooze
from minutehand.aws.emr import Application, EmrError, Run
from minutehand.errors import ConfigurationError
from minutehand.settings.table import PIPELINE_APPLICATION, PIPELINE_ENTRY_POINT, PIPELINE_ROLE

COMMANDS = ("archive", "compact", "report")
# The application's clock and the database's may differ.
MARGIN = timedelta(days=1)
# The time until the next look at a run: a quarter of its time so far, but at least and at most this long.
SHORTEST, LONGEST = timedelta(seconds=30), timedelta(minutes=5)


def handle(payload: list[str], job: Job) -> dict[str, str]:
    """Run `payload`, the arguments of `minutehand pipeline`; return the id of the run when it has succeeded.

    The job snoozes while the run is in progress, so that no invocation waits for it. All runs of a job have the same
    name, by which the next invocation finds the latest. The id of a run that failed is stored as the job's result, so
    that the next attempt starts another one.
    """
    _check(payload, job)
    application, name = _application(), job.idempotency_key
    before = (job.previous_result or {}).get("run", "")
    run = application.latest_run(name, job.enqueued - MARGIN)
    if run is None or run.id == before:
        # A token has at most 64 characters.
        application.start_run(name, str(uuid5(job.id, f"{name} {before}")), payload)
        raise Snooze(SHORTEST)
    if not run.has_ended:
        raise Snooze(min(max((datetime.now(UTC) - run.created) / 4, SHORTEST), LONGEST))
    return _ended(run, job)


def _ended(run: Run, job: Job) -> dict[str, str]:
    result = {"run": run.id}
    if run.state == "SUCCESS":
        return result
    job.result = result
    if run.state == "CANCELLED":
        raise Cancel(f"run {run.id} was cancelled in EMR Serverless")
    raise EmrError(f"run {run.id} failed: {run.details or 'no reason was given'}")


def _check(payload: list[str], job: Job) -> None:
    if job.tenant:
        raise Fail(
            f"the pipeline has the jobs of all tenants, so no job of a tenant can run it, got {job.tenant}"
        )
    if not payload or payload[0] not in COMMANDS:
        got = repr(payload[0]) if payload else "no argument"
        raise Fail(f"the payload must begin with a command, which is one of {', '.join(COMMANDS)}; got {got}")


def _application() -> Application:
    settings = (PIPELINE_APPLICATION, PIPELINE_ROLE, PIPELINE_ENTRY_POINT)
    if missing := [each.name for each in settings if not each.read()]:
        raise ConfigurationError(
            f"{' and '.join(missing)} must be set; copy the outputs of the pipeline's stack to this stack's "
            "parameters"
        )
    return Application(*(each.read() for each in settings))
