"""Connection checks of the doctor: poolers, prepared statements of other clients, and TLS."""

import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
import trustme

from minutehand.local.programs import unprivileged_user
from minutehand.testing.databases import at, database_name
from tests import servers
from tests.conftest import NewDatabase
from tests.doctor.conftest import Examine, complaints
from tests.servers import Servers, debian

ALWAYS = {"login", "autovacuum", "last-tick"}  # known problems of the test servers


def test_transaction_pooler_is_recognized(new_database: NewDatabase, examine: Examine) -> None:
    findings = examine(new_database("pgbouncer-18").url)

    assert complaints(findings) == ALWAYS
    assert findings["pooler"].found.startswith("a transaction pooler")


def test_direct_connection_is_recognized(new_database: NewDatabase, examine: Examine) -> None:
    assert examine(new_database().url)["pooler"].found.startswith("no pooler")


def test_capacity_may_exceed_connections_behind_a_pooler(new_database: NewDatabase, examine: Examine) -> None:
    assert complaints(examine(new_database("pgbouncer-18").url, capacity=500)) == ALWAYS


@pytest.fixture
def session_pooler(monkeypatch: pytest.MonkeyPatch) -> Iterator[servers.Address]:
    """A pooler in session mode."""
    ini = servers.PGBOUNCER.replace("pool_mode = transaction", "pool_mode = session")
    assert ini != servers.PGBOUNCER
    monkeypatch.setattr(servers, "PGBOUNCER", ini)
    own = Servers()
    try:
        yield own.address("pgbouncer-18")
    finally:
        own.close()


def test_pooler_in_session_mode_is_found(session_pooler: servers.Address, examine: Examine) -> None:
    findings = examine(session_pooler.make().url)

    assert complaints(findings) == ALWAYS | {"pooler"}
    assert "did not share a server connection" in findings["pooler"].found
    assert "transaction mode" in findings["pooler"].advice


def test_prepared_statements_of_other_clients_are_found(new_database: NewDatabase, examine: Examine) -> None:
    database = new_database("pgbouncer-18")
    with psycopg.connect(database.url, autocommit=True) as other:
        other.execute("prepare theirs as select 1")
        findings = examine(database.url)

    assert complaints(findings) == ALWAYS | {"prepared"}
    assert findings["prepared"].found.startswith(
        "1 prepared statements of other clients on a shared server connection"
    )


@pytest.fixture(scope="module")
def outward(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A server that also listens on this machine's address, with a certificate, and the file of its authority."""
    address = _own_address()
    server = servers.migrated("outward", binaries=debian(), settings={"listen_addresses": "*"})
    data = (servers.directory("outward") / "postgres" / "data").resolve()
    authority = trustme.CA()
    certificate = authority.issue_cert(address)
    certificate.cert_chain_pems[0].write_to_path(data / "server.crt")
    certificate.private_key_pem.write_to_path(data / "server.key")
    (data / "server.key").chmod(0o600)
    if user := unprivileged_user():
        shutil.chown(data / "server.crt", user)
        shutil.chown(data / "server.key", user)
    with (data / "pg_hba.conf").open("a") as rules:
        rules.write(f"host all all {address}/32 scram-sha-256\n")
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute("alter system set ssl = on")
        admin.execute("select pg_reload_conf()")
    file = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.cert_pem.write_to_path(file)
    parts = urlsplit(server.url)
    database = server.make()
    url = parts._replace(netloc=f"postgres:{parts.password}@{address}:{parts.port}").geturl()
    return at(url, database_name(database.url)), str(file)


def _own_address() -> str:
    found = [
        address.address
        for addresses in psutil.net_if_addrs().values()
        for address in addresses
        if address.family.name == "AF_INET" and not address.address.startswith("127.")
    ]
    if not found:
        pytest.skip("this machine has no address of its own")
    return found[0]


@pytest.mark.parametrize(
    ("mode", "verdict", "words"),
    [
        ("disable", "problem", "the connection is not encrypted"),
        ("require", "warning", "with sslmode=require the server's identity is not verified"),
        ("verify-full", "ok", "encrypted, and the server's certificate is verified"),
    ],
)
def test_remote_connection_without_tls_is_found(
    outward: tuple[str, str], examine: Examine, mode: str, verdict: str, words: str
) -> None:
    url, authority = outward
    found = examine(f"{url}?sslmode={mode}&sslrootcert={authority}")

    assert (found["tls"].verdict, words in found["tls"].found) == (verdict, True), found["tls"]


def test_local_connection_needs_no_tls(outward: tuple[str, str], examine: Examine) -> None:
    url, _ = outward
    host = str(urlsplit(url).hostname)
    found = examine(f"{url.replace(host, '127.0.0.1')}?sslmode=disable")["tls"]

    assert found.verdict == "ok"
