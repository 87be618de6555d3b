"""What a connection shows of the way to its server: the address, whether it is encrypted, who answers at the end."""

from dataclasses import dataclass
from ipaddress import ip_address

from minutehand.database import Database


@dataclass(frozen=True)
class Wire:
    """A connection as the driver sees it.

    `process` is the server process that the protocol announced; a pooler announces one of its own making.
    `prepares` says whether the driver would prepare statements.
    """

    host: str
    address: str
    port: int
    encrypted: bool
    sslmode: str
    process: int
    prepares: bool

    @property
    def loopback(self) -> bool:
        """Whether it never leaves this machine."""
        if not self.address:
            return self.host.startswith(("/", "@"))
        return ip_address(self.address.partition("%")[0]).is_loopback


def wire(database: Database) -> Wire:
    """Return how this database is reached."""
    connection = database.connection
    info = connection.info
    return Wire(
        host=info.host,
        address=info.hostaddr,
        port=info.port,
        encrypted=bool(connection.pgconn.ssl_in_use),
        sslmode=info.get_parameters().get("sslmode", "prefer"),
        process=info.backend_pid,
        prepares=connection.prepare_threshold is not None,
    )
