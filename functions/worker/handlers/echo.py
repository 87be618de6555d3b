"""Return the payload, or fail on demand: the smoke test of a deployment, its retries and its alarms."""

from typing import Any

from minutehand import Job


def handle(payload: Any, job: Job) -> Any:
    """Return the payload as the result.

    `{"fail": "reason"}` fails every attempt with this message, so that the job ends dead.
    `{"fail_until": 3}` fails the attempts before the third, then succeeds; an additional "fail" sets the message.
    """
    match payload:
        case {"fail_until": int(first)} if job.attempt < first:
            raise RuntimeError(payload.get("fail", f"Asked to fail until attempt {first}."))
        case {"fail_until": int()}:
            return payload
        case {"fail": message}:
            raise RuntimeError(message)
    return payload
