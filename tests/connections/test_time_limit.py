"""The connect timeout of a database URL."""

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from minutehand.database import connect
from minutehand.errors import ConfigurationError
from tests.servers import Database


@pytest.mark.parametrize(("text", "expected"), [("0", 0), ("-1", 0), ("", 7), ("2.6", 3), ("30", 30)])
def test_driver_gets_the_timeout_of_the_url_and_0_is_unlimited(
    direct_database: Database, monkeypatch: pytest.MonkeyPatch, text: str, expected: int
) -> None:
    given: list[object] = []
    opened = psycopg.connect

    def watched(*args: object, **parts: object) -> object:
        given.append(parts["connect_timeout"])
        return opened(*args, **parts)  # type: ignore[arg-type]

    monkeypatch.setattr(psycopg, "connect", watched)
    monkeypatch.setenv("MINUTEHAND_CONNECT_TIMEOUT", "7")
    connect(make_conninfo(direct_database.url, connect_timeout=text)).close()

    assert given == [expected]


@pytest.mark.parametrize("text", ["soon", "inf", "-inf", "nan", "1e300"])
def test_invalid_timeout_is_rejected(text: str) -> None:
    with pytest.raises(
        ConfigurationError, match="connect_timeout in DATABASE_URL must be a number of seconds"
    ):
        connect(f"postgresql://127.0.0.1:1/none?connect_timeout={text}")
