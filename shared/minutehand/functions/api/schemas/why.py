"""Why: the reason why a job has not finished."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from minutehand.functions.api.schemas.common import StrictModel
from minutehand.functions.api.schemas.jobs import JOB
from minutehand.model.row import State
from minutehand.queries.why.evidence import Reason


class WhyOptions(StrictModel):
    """Options of the answer."""

    zone: str = Field("UTC", max_length=64, description="the time zone of times in the sentence")


class Answer(BaseModel):
    """Why a job has not finished: one reason, with the evidence and the next step."""

    job: UUID
    queue: str
    kind: str
    state: State
    reason: Reason
    sentence: str
    next_step: str = Field(description="a command or an instruction; empty if there is nothing to do")
    evidence: dict[str, datetime | float | str | bool | None] = Field(
        description="what the reason is based on"
    )


ANSWER: dict[str, Any] = {
    "job": JOB["id"],
    "queue": "mail",
    "kind": "welcome",
    "state": "due",
    "reason": "paused",
    "sentence": "It is paused: queue mail by ada since 2026-01-31 07:00:00 UTC, until somebody resumes it.",
    "next_step": "minutehand resume --queue mail",
    "evidence": {"queue": "mail", "since": "2026-01-31T07:00:00+00:00", "until": None, "by": "ada"},
}
