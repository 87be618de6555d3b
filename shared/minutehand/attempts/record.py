"""Record: the parameters with which the finishing statements record how attempts ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from minutehand.attempts.claimed import Claim
from minutehand.database.adaptation import UuidArray
from minutehand.model.failure import bounded
from minutehand.model.outcome import Ending, Error
from minutehand.model.payload import encode
from minutehand.model.worker import Worker, label
from minutehand.settings.table import ENCRYPT_RESULTS


@dataclass(eq=False, slots=True)
class Write:
    """How an attempt ends, as a finishing statement stores it.

    A job with a `delay` comes back after it, and `refund` is how many attempts it gets back. Any other job ends, and
    `next` is the nominal time of its next occurrence. The job's group waits for `hold`.
    """

    claim: Claim
    ending: Ending
    result: str | None = field(default=None, repr=False)
    error: Error | None = field(default=None, repr=False)
    delay: timedelta | None = None
    refund: int = 0
    next: datetime | None = None
    hold: timedelta | None = None


def attempt_columns(writes: Sequence[Write]) -> dict[str, Any]:
    """Return the parameters of a statement for several attempts: a list for each column, and their worker."""
    return {
        **done_columns([write.claim for write in writes], column([write.result for write in writes])),
        "outcomes": word_array([write.ending for write in writes]),
        "errors": column([None if write.error is None else error_text(write.error) for write in writes]),
        "holds": column([write.hold for write in writes]),
    }


def done_columns(claims: Sequence[Claim], results: Sequence[str | None] | None) -> dict[str, Any]:
    """Return those parameters that a statement for jobs that are done has; `results` may be None if no job has one."""
    leases = [claim.lease for claim in claims]
    return {
        "ids": UuidArray.of([claim.id for claim in claims]),
        "acks": UuidArray.of([lease.ack for lease in leases]),
        "seconds": seconds_array([lease.ran for lease in leases]),
        "results": results and [stored_result(*each) for each in zip(claims, results, strict=True)],
        **_worker(leases[0].worker),
    }


def attempt_parameters(
    claim: Claim, ending: Ending, result: str | None, error: Error | None
) -> dict[str, Any]:
    """Return the parameters of a statement for one attempt: the fence, and the attempt's history."""
    return {
        "id": claim.id,
        "ack": claim.ack,
        "outcome": ending,
        "seconds": claim.lease.ran,
        "result": stored_result(claim, result),
        "error": error_text(error),
        **_worker(claim.lease.worker),
    }


def word_array(words: Sequence[str]) -> str:
    """Return the text of an array of words that need no quotes; the driver would look at each."""
    return "{" + ",".join(words) + "}"


def seconds_array(seconds: Sequence[float]) -> str:
    """Return the text of an array of times, with all digits that are stored, in a fifth of the time of `str`."""
    return "{" + ",".join([f"{each:.6f}" for each in seconds]) + "}"


def column(values: list[Any]) -> list[Any] | None:
    """Return a list for `unnest`; one without values as null, which costs less."""
    return None if values.count(None) == len(values) else values


def stored_result(claim: Claim, result: str | None) -> str | None:
    """Return the result as its row stores it: encrypted with MINUTEHAND_ENCRYPT_RESULTS."""
    if result is None or not ENCRYPT_RESULTS.read():
        return result
    # Imported only when used, for the sake of cold starts.
    from minutehand.encryption.envelope import encrypt_result

    return encrypt_result(result, claim)


def error_text(error: Error | None) -> str | None:
    """Return an error as JSON with texts that a row may store."""
    return None if error is None else encode(bounded(error))


# The worker of a Lambda function has another request each time.
@lru_cache(maxsize=2)
def _worker(worker: Worker) -> dict[str, Any]:
    return {
        "worker": label(worker.name),
        "request": label(worker.request),
        "memory_mb": worker.memory_mb,
        "version": label(worker.version),
    }
