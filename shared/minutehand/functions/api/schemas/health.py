"""Health."""

from typing import Literal

from pydantic import BaseModel


class Health(BaseModel):
    """The API is available; `database` is ok if the caller has a token, else unchecked."""

    status: Literal["ok"]
    database: Literal["ok", "unchecked"]
