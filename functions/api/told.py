"""Told: the shapes of the answers, for the schema that clients are generated from."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from minutehand.model.row import State


class Enqueued(BaseModel):
    """What became of a job: created, put in the place of its key's upcoming job or merged into it, or ignored."""

    id: UUID = Field(description="the job that will run")
    outcome: Literal["created", "replaced", "merged", "ignored"]
    visible: datetime = Field(description="the moment from which it may run")


class Fault(BaseModel):
    """What is wrong with one part of a request."""

    detail: str
    pointer: str | None = Field(None, description="the part of the body, as a JSON pointer")
    parameter: str | None = Field(None, description="the parameter of the query or the path")


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = Field(description="names the kind of problem, for programs")
    title: str = Field(description="the kind of problem, for people")
    status: int
    detail: str = Field(description="this problem, and what to do about it")
    rule: str | None = Field(
        None, description="the rule that it breaks, by the name it has in SQL and Python too"
    )
    state: State | None = Field(None, description="the state in which the job cannot be changed so")
    errors: list[Fault] | None = None


class Item(BaseModel):
    """What became of one job of a batch."""

    ordinal: int = Field(description="its place in the batch, from 0")
    outcome: Literal["created", "replaced", "merged", "ignored", "rejected"]
    id: UUID | None = Field(None, description="the job that will run; none if rejected")
    visible: datetime | None = None
    problem: Problem | None = Field(None, description="why it was rejected")


class Outcomes(BaseModel):
    """What became of a batch, counted and item by item, in order."""

    created: int
    replaced: int
    merged: int
    ignored: int
    rejected: int
    items: list[Item]


class Error(BaseModel):
    """The latest failure."""

    type: str
    message: str
    trace: str | None = Field(None, description="only with include=payload")


class Job(BaseModel):
    """A job as it stands. Listings leave out what is not required; so does `GET /jobs/{id}` with what is masked."""

    model_config = ConfigDict(extra="forbid")

    id: UUID
    queue: str
    kind: str
    state: State
    key: str | None
    priority: int
    attempts: int = Field(description="how many were begun")
    max_attempts: int
    enqueued: datetime
    run_at: datetime = Field(description="when it was asked to run")
    visible: datetime = Field(description="when it may run next; while it runs, when its lease ends")
    offered: datetime | None = Field(description="when a worker was last invited")
    claimed: datetime | None = Field(description="when a worker began")
    deleted: datetime | None = Field(description="when it was finished")
    error: Error | None
    tenant: str = Field(description="whose it is; empty where there are no tenants")
    version: str | None = Field(description="the code that finished it")
    every: str | None = Field(description="how it recurs")
    zone: str | None = Field(description="the time zone of `every`")
    nominal: datetime | None = Field(description="the moment that this occurrence stands for")
    schedule: str | None = Field(description="the schedule that fired it")
    cancelling: str | None = Field(description="why a running one was asked to end")
    retry: dict[str, Any] | None = Field(None, description="times in seconds; null for the default")
    timeout: float | None = Field(None, description="seconds")
    payload: Any = Field(None, description="only with include=payload")
    headers: dict[str, str] | None = Field(None, description="only with include=payload")
    result: Any = Field(None, description="only with include=payload")


class Page(BaseModel):
    """Jobs, the last enqueued first."""

    jobs: list[Job]
    before: UUID | None = Field(description="the cursor of the next page, if there may be one")
    next: str | None = Field(description="the path of the next page, as in the Link header")
    after: UUID | None = Field(description="the cursor of the page before this one, if there may be one")
    previous: str | None = Field(description="the path of the page before this one, as in the Link header")
    total: int | None = Field(description="how many match, if that was asked")
    place: int | None = Field(description="how many of them come before this page")


class Depth(BaseModel):
    """How many jobs of a queue, or of a kind in it, are in a state."""

    queue: str
    kind: str | None = Field(description="only with by=kind")
    state: State
    jobs: int
    since: datetime = Field(description="since when the first of them waits, runs or is finished")


class Stats(BaseModel):
    """How many jobs each queue has in each state; finished ones are those since a moment."""

    since: datetime
    depths: list[Depth]


class Health(BaseModel):
    """That the API reaches its database."""

    status: Literal["ok"]
