"""Health."""

from typing import Literal

from pydantic import BaseModel


class Health(BaseModel):
    """The API can reach its database."""

    status: Literal["ok"]
