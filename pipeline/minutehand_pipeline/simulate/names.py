"""Names: what a limit may match of a job."""

from typing import NamedTuple

# A limit may hold for each value of one of these.
PER = ("group", "key", "tenant")


class Names(NamedTuple):
    """The names of a job; '' for one that it does not have."""

    queue: str
    kind: str = ""
    key: str = ""
    group: str = ""
    tenant: str = ""
