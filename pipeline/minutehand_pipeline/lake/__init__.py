"""The lake: Delta tables by delta-rs, where a commit carries its batch's number and no number is committed twice."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from minutehand_pipeline.errors import InputError
from minutehand_pipeline.lake.delta import PARTITION, DataFile
from minutehand_pipeline.lake.table import Table
from minutehand_pipeline.schemas import Home

__all__ = ["PARTITION", "DataFile", "Lake", "Table"]

STORES = ("s3", "s3a", "gs", "az", "abfs", "abfss")
PATTERNS = "[]{}*?%\\"  # which Spark, or delta-rs, takes for something else than a name
SECRETS = ("secret", "password", "token", "access_key", "account_key", "sas")


@dataclass(frozen=True)
class Lake:
    """A folder, or an s3://, gs:// or abfss:// address, with one table for each home.

    `storage` are options of the object store that are no secrets, such as a region; whoever may read and write says
    so by the environment (AWS_ACCESS_KEY_ID and its like) or by the machine's role.
    """

    path: str
    storage: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse secrets, which would travel in Spark's plans, and what is no place or one that Spark misreads."""
        for name in self.storage:
            if any(word in name.lower() for word in SECRETS):
                raise InputError(f"{name} is a secret: say it in the environment, and not as an option")
        if self.local:
            object.__setattr__(self, "path", _folder(self.path))
        elif self.path.partition("://")[0] not in STORES:
            raise InputError(f"{self.path} is neither a folder nor at {', '.join(STORES)}")

    @property
    def local(self) -> bool:
        """Whether it is a folder of this machine, or one that all machines of a cluster share."""
        return "://" not in self.path

    @property
    def options(self) -> dict[str, str] | None:
        """What the object store is told beside the environment; who names an endpoint of plain HTTP means it."""
        plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
        return {**({"allow_http": "true"} if plain else {}), **self.storage} or None

    def table(self, home: Home) -> Table:
        """Return a home's table, whether it exists or not."""
        return Table(self, home)


def _folder(said: str) -> str:
    folder = Path(said).absolute()
    if not said or set(str(folder)) & set(PATTERNS):
        raise InputError(
            f"{said!r} is no folder for a lake: its path may not have any of {' '.join(PATTERNS)}"
        )
    if folder.is_file():
        raise InputError(f"{said} is a file, and no lake")
    return str(folder)
