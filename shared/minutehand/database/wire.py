"""Wire: how a connection reaches its server: address, encryption and server process."""

from dataclasses import dataclass
from ipaddress import ip_address

from minutehand.database import Database


@dataclass(frozen=True)
class Wire:
    """A connection as the driver sees it.

    `process` is the server process that the protocol announced; a pooler announces an invented one.
    """

    host: str
    address: str
    port: int
    encrypted: bool
    sslmode: str
    process: int

    @property
    def loopback(self) -> bool:
        """Whether the connection stays on this machine."""
        if not self.address:
            return self.host.startswith(("/", "@"))
        return ip_address(self.address.partition("%")[0]).is_loopback


def wire(database: Database) -> Wire:
    """Return how a database is reached."""
    connection = database.connection
    info = connection.info
    return Wire(
        host=info.host,
        address=info.hostaddr,
        port=info.port,
        encrypted=bool(connection.pgconn.ssl_in_use),
        sslmode=info.get_parameters().get("sslmode", "prefer"),
        process=info.backend_pid,
    )
