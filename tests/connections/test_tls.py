"""Certificate verification against a real server, and the error for each invalid certificate."""

from collections.abc import Iterator
from dataclasses import dataclass
from os import geteuid
from pathlib import Path
from shutil import chown

import psycopg
import pytest
import trustme
from psycopg.conninfo import make_conninfo

from minutehand.database import connect
from minutehand.database.tls import RDS, verified_by
from minutehand.errors import ConfigurationError, UnreachableError
from minutehand.local import postgres
from minutehand.local.programs import unprivileged_user
from minutehand.settings import database_token
from tests import servers
from tests.connections.manager import CREDENTIALS

NAME = "db.example.org"
REFUSED = (ConfigurationError, UnreachableError)


@dataclass(frozen=True)
class Guarded:
    """A Postgres with a certificate for NAME, and the file of its authority."""

    url: str
    authority: Path

    def at(self, name: str) -> str:
        """The URL with another name of the server, which does not resolve."""
        return make_conninfo(self.url, host=name, hostaddr="127.0.0.1")


@pytest.fixture(scope="module")
def guarded(home: Path) -> Iterator[Guarded]:
    signer, user = trustme.CA(), unprivileged_user()
    certificate = signer.issue_cert(NAME)
    signer.cert_pem.write_to_path(str(home / "authority.pem"))
    certificate.private_key_and_cert_chain_pem.write_to_path(str(home / "server.pem"))
    (home / "server.pem").chmod(0o600)
    chown(home / "server.pem", user or geteuid())
    pem = str(home / "server.pem")
    server = postgres.start(
        home / "server",
        binaries=servers.debian(),
        fsync=False,
        settings={"ssl": "on", "ssl_cert_file": pem, "ssl_key_file": pem},
    )
    yield Guarded(server.url, home / "authority.pem")
    server.stop()


@pytest.fixture(autouse=True)
def verify(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINUTEHAND_DATABASE_TLS", "verify")


def test_certificate_of_a_public_authority_is_trusted(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(guarded.authority))
    with connect(guarded.at(NAME)) as connection:
        assert connection.pgconn.ssl_in_use


def test_url_may_set_a_root_certificate(guarded: Guarded) -> None:
    with connect(make_conninfo(guarded.at(NAME), sslrootcert=str(guarded.authority))) as connection:
        assert connection.pgconn.ssl_in_use


def test_self_signed_certificate_is_rejected(guarded: Guarded) -> None:
    with pytest.raises(
        UnreachableError, match=r"certificate verify failed; .*name the authority's file as sslrootcert"
    ):
        connect(guarded.at(NAME))


def test_certificate_for_another_host_is_rejected(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(guarded.authority))
    with pytest.raises(
        UnreachableError, match=r"does not match host name .*; the certificate is for another host name"
    ):
        connect(guarded.at("other.example.org"))


def test_server_without_tls_is_rejected(direct_database: servers.Database) -> None:
    plain = make_conninfo(direct_database.url, host=NAME, hostaddr="127.0.0.1")
    with pytest.raises(UnreachableError, match=r"does not support SSL.*; enable TLS on the server"):
        connect(plain)


def test_url_takes_precedence_over_the_environment(direct_database: servers.Database) -> None:
    plain = make_conninfo(direct_database.url, host=NAME, hostaddr="127.0.0.1", sslmode="prefer")
    with connect(plain) as connection:
        assert not connection.pgconn.ssl_in_use


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "::1", "/var/run/postgresql", "", "127.0.0.1,localhost"]
)
def test_local_server_is_not_verified(host: str) -> None:
    assert verified_by({"host": host}) == {}


@pytest.mark.parametrize(
    "parts",
    [
        {"host": "localhost", "hostaddr": "10.1.2.3"},
        {"hostaddr": "10.1.2.3"},
        {"hostaddr": "127.0.0.1,10.1.2.3"},
        {"host": NAME, "hostaddr": "127.0.0.1"},  # a tunnel to the host of the certificate
        {"host": NAME, "sslmode": "", "sslrootcert": ""},
    ],
)
def test_possibly_remote_server_is_verified(parts: dict[str, str]) -> None:
    found = verified_by(parts)

    assert (found["sslmode"], bool(found["sslrootcert"])) == ("verify-full", True)


def test_local_address_is_not_verified() -> None:
    assert verified_by({"host": "localhost", "hostaddr": "127.0.0.1"}) == {}


def test_empty_sslmode_means_unset(
    guarded: Guarded, monkeypatch: pytest.MonkeyPatch, direct_database: servers.Database
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(guarded.authority))
    with connect(make_conninfo(guarded.at(NAME), sslmode="", sslrootcert="")) as connection:
        assert connection.pgconn.ssl_in_use
    connect(make_conninfo(direct_database.url, sslmode="")).close()


def test_user_without_a_home_trusts_public_authorities(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(user: int) -> None:
        raise KeyError(user)

    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", unknown)

    assert verified_by({"host": NAME})["sslmode"] == "verify-full"


@pytest.mark.parametrize(
    ("host", "file"),
    [
        ("app.c1.eu-west-1.rds.amazonaws.com", "eu-west-1"),
        ("app.cluster-c1.us-east-2.rds.amazonaws.com", "us-east-2"),
        ("APP.CLUSTER-RO-C1.US-EAST-2.RDS.AMAZONAWS.COM", "us-east-2"),
        ("app.proxy-c1.eu-west-1.rds.amazonaws.com", "proxy"),
        ("read.endpoint.proxy-c1.eu-west-1.rds.amazonaws.com", "proxy"),
    ],
)
def test_rds_is_verified_by_the_authorities_of_amazon(host: str, file: str) -> None:
    assert verified_by({"host": host}) == {
        "sslmode": "verify-full",
        "sslrootcert": str(RDS / f"{file}.pem"),
    }


@pytest.mark.parametrize(
    ("host", "region"),
    [
        ("app.c1.mars-north-1.rds.amazonaws.com", "mars-north-1"),
        ("app.c1.rds.cn-north-1.amazonaws.com.cn", "cn-north-1"),
    ],
)
def test_missing_authority_error_names_the_region(host: str, region: str) -> None:
    with pytest.raises(
        ConfigurationError, match=rf"RDS in {region}; download {region}-bundle.pem .* sslrootcert"
    ):
        verified_by({"host": host})


@pytest.mark.parametrize(
    "host", ["rds.amazonaws.com.evil.example", "eu-west-1.rds.amazonaws.com.evil.example"]
)
def test_lookalike_rds_name_is_verified_by_public_authorities(host: str) -> None:
    assert not verified_by({"host": host})["sslrootcert"].startswith(str(RDS))


def test_token_is_the_password_and_requires_tls(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**CREDENTIALS, "MINUTEHAND_DATABASE_IAM": "1"}.items():
        monkeypatch.setenv(name, value)
    parts = psycopg.conninfo.conninfo_to_dict(guarded.url)
    bare = make_conninfo(
        host=NAME, hostaddr="127.0.0.1", port=parts["port"], user="signed", dbname="postgres"
    )
    with psycopg.connect(guarded.url, autocommit=True) as admin:
        admin.execute(
            psycopg.sql.SQL("create role signed login password {}").format(
                database_token(NAME, int(str(parts["port"])), "signed")
            )
        )

    with connect(make_conninfo(bare, sslrootcert=str(guarded.authority))) as connection:
        assert connection.execute("select current_user").fetchone() == ("signed",)
    with pytest.raises(ConfigurationError, match="needs TLS"):
        connect(make_conninfo(bare, sslmode="prefer"))
    with pytest.raises(ConfigurationError, match="remove the password from the URL, or unset the variable"):
        connect(make_conninfo(bare, password="hunter2"))
