"""Problem details."""

from pydantic import BaseModel, Field

from minutehand.queries.jobs import State


class Fault(BaseModel):
    """An error in one part of a request."""

    detail: str
    pointer: str | None = Field(None, description="a JSON pointer to the part of the body")
    parameter: str | None = Field(None, description="the parameter of the query or the path")


class Problem(BaseModel):
    """An error (RFC 9457)."""

    type: str = Field(description="identifies the type of problem, for programs")
    title: str = Field(description="the type of problem, for people")
    status: int
    detail: str = Field(description="this problem and how to fix it")
    rule: str | None = Field(None, description="the rule that the request breaks, as in SQL and Python")
    state: State | None = Field(None, description="the job's state, which does not allow the change")
    errors: list[Fault] | None = None
