"""Give the payload back, or fail on demand: the smoke test of a deployment, of its retries and its alarms."""

from typing import Any

from minutehand import Job


def handle(payload: Any, job: Job) -> Any:
    """Return the payload as the result.

    `{"fail": "why"}` fails every attempt with these words, so that the job ends dead.
    `{"fail_until": 3}` fails the attempts before the third and then returns; "fail" beside it says with what words.
    """
    match payload:
        case {"fail_until": int(first)} if job.attempt < first:
            raise RuntimeError(payload.get("fail", f"Asked to fail until attempt {first}."))
        case {"fail_until": int()}:
            return payload
        case {"fail": words}:
            raise RuntimeError(words)
    return payload
