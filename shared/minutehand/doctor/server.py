"""Checks of the server and of the connection; they need no privileges."""

from datetime import timedelta

from minutehand.database import Database
from minutehand.doctor.examined import ExaminedDatabase
from minutehand.doctor.finding import Opinion, ok, problem, skipped, warning
from minutehand.errors import BusyError
from minutehand.settings import prepares

SLOW_MS = 500
OLDEST_VERSION = 150000
CLOCKS_APART = timedelta(seconds=2)
TRIES = 3
POOLERS = {"-pooler.": "Neon's", ".pooler.supabase.": "Supabase's", ".proxy-": "RDS Proxy"}
PGBOUNCERS_PORT = 6432


def reachable(examined: ExaminedDatabase) -> Opinion:
    """Whether the database answers, and how fast."""
    opening, answering = examined.milliseconds
    found = f"connected in {opening} ms, answered in {answering} ms"
    if answering > SLOW_MS:
        return warning(
            found, "a tick runs a dozen statements; run the functions in the region of the database"
        )
    return ok(found)


def writable(examined: ExaminedDatabase) -> Opinion:
    """Whether the database accepts writes."""
    if examined.query("examine_server")["read_only"]:
        return problem(
            "the server is a replica, or the database is read-only",
            "set DATABASE_URL to the writable database",
        )
    return ok("accepts writes")


def disk(examined: ExaminedDatabase) -> Opinion:
    """Whether the server's disk has room, by a temporary file, since doctor changes nothing."""
    try:
        examined.database.run("examine_disk")
    except BusyError as error:
        return problem(
            str(error),
            "if the disk is full, add space, or remove what fills it; jobs start again by themselves",
        )
    return ok("a temporary file could be written")


def version(examined: ExaminedDatabase) -> Opinion:
    """Whether minutehand supports the server's version."""
    server = examined.query("examine_server")
    if server["version"] < OLDEST_VERSION:
        return problem(
            f"PostgreSQL {server['named']}", "upgrade the server; minutehand requires PostgreSQL 15 or newer"
        )
    return ok(f"PostgreSQL {server['named']}")


def tls(examined: ExaminedDatabase) -> Opinion:
    """Whether the connection is encrypted and the certificate verified, unless it is local."""
    wire = examined.wire
    if wire.loopback:
        return ok("the connection stays on this machine")
    if not wire.encrypted:
        return problem(
            "the connection is not encrypted; others can read passwords and payloads",
            "set MINUTEHAND_DATABASE_TLS=verify, or sslmode=verify-full in the URL",
        )
    if wire.sslmode != "verify-full":
        return warning(
            f"encrypted, but with sslmode={wire.sslmode} the server's identity is not verified",
            "set MINUTEHAND_DATABASE_TLS=verify, or sslmode=verify-full in the URL",
        )
    return ok("encrypted, and the server's certificate is verified")


def login(examined: ExaminedDatabase) -> Opinion:
    """Whether the login has more privileges than it needs."""
    server = examined.query("examine_server")
    if server["superuser"]:
        return warning(
            f"{server['login']} is a superuser",
            'create a login for each part, as a member of its role: "Database roles" on the page Operating of the docs',
        )
    return ok(f"{server['login']} is not a superuser")


def pooler(examined: ExaminedDatabase) -> Opinion:
    """Whether there is a transaction pooler, as far as a client can tell."""
    if examined.another is None:
        return skipped("a second session is required; run: minutehand doctor")
    if _shared(examined, examined.another):
        return ok(f"a transaction pooler{_which(examined)}: two clients shared a server connection")
    if examined.wire.process == _process(examined):
        return ok("no pooler; each worker holds a server connection")
    return warning(
        f"a pooler or proxy{_which(examined)} that did not share a server connection between two clients",
        "if it is a pooler in session mode, use its transaction mode; idle workers keep their connections",
    )


def prepared(examined: ExaminedDatabase) -> Opinion:
    """Whether shared server connections contain prepared statements."""
    if examined.wire.process == _process(examined):
        return ok("statements are prepared on direct connections, which no other client shares")
    if prepares() == "always":
        return warning(
            "MINUTEHAND_PREPARE=always prepares statements through a pooler",
            "unset it, unless the pooler supports prepared statements (PgBouncer: max_prepared_statements)",
        )
    if count := examined.query("examine_server")["prepared"]:
        return warning(
            f"{count} prepared statements of other clients on a shared server connection",
            "disable server-side prepared statements in the other clients of this pooler",
        )
    return ok("no prepared statements on the server")


def clock(examined: ExaminedDatabase) -> Opinion:
    """Whether this machine's clock and the database's agree; jobs go by the database's alone."""
    before = examined.now()
    server_time = examined.database.run("clock")[0]["now"]
    apart = server_time - (before + (examined.now() - before) / 2)
    found = f"the database's clock is {abs(apart).total_seconds():.1f} s {'ahead' if apart > timedelta() else 'behind'}"
    if abs(apart) > CLOCKS_APART:
        return warning(
            f"{found} of this machine's",
            "set the clock that is wrong (NTP); times computed here and stored there are wrong by as much",
        )
    return ok(f"the clocks are {abs(apart).total_seconds():.1f} s apart")


def connections(examined: ExaminedDatabase) -> Opinion:
    """Whether enough connections are free for the capacity."""
    server = examined.query("examine_server")
    free = max(0, server["free"])
    found = f"{free} of {server['most']} connections are free, and the capacity is {examined.capacity}"
    if server["free"] >= examined.capacity:
        return ok(found)
    if examined.wire.process != _process(examined):
        return ok(f"{found}; a pooler shares them")
    if server["holder"]:
        found += f"; {server['holder']} has {server['held']}, the most of all programs"
    return problem(found, "lower MINUTEHAND_CAPACITY, raise max_connections, or use a transaction pooler")


def autovacuum(examined: ExaminedDatabase) -> Opinion:
    """Whether autovacuum is enabled."""
    advice = "set autovacuum and track_counts to on; without them the tables only grow"
    if not examined.query("examine_server")["autovacuum"]:
        return problem("autovacuum is off on this server", advice)
    if examined.query("examine_queue")["unvacuumed"]:
        return problem(
            "autovacuum is off for minutehand.jobs_live",
            "alter table minutehand.jobs_live reset (autovacuum_enabled)",
        )
    return ok("autovacuum is on")


def old_snapshot(examined: ExaminedDatabase) -> Opinion:
    """Whether an old transaction prevents vacuum from removing rows."""
    oldest = examined.query("examine_snapshots")
    if oldest["age"] and oldest["age"] > examined.longest_transaction:
        process = "" if oldest["pid"] is None else f"pid {oldest['pid']}, "
        name = oldest["name"] or "without a name"
        statement = (
            f"last statement at {oldest['statement']:%Y-%m-%d %H:%M:%S %Z}"
            if oldest["statement"]
            else "no statement"
        )
        return problem(
            f"a transaction has been open for {oldest['age'].total_seconds():.0f} s: {process}{name}, {statement}",
            f"end it in its client, or: select pg_terminate_backend({oldest['pid']})"
            if oldest["pid"]
            else "commit or roll back the prepared transaction",
        )
    if not oldest["sees_all"]:
        return skipped(
            "this role cannot see other roles' transactions; ask a superuser to grant pg_read_all_stats"
        )
    return ok("no transaction has been open for more than a minute")


def _process(examined: ExaminedDatabase) -> int:
    """Return the server process that answers now."""
    process: int = examined.database.run("examine_process")[0]["process"]
    return process


def _shared(examined: ExaminedDatabase, another: Database) -> bool:
    """Whether a second client gets the server process that has just answered the first."""
    for _ in range(TRIES):
        process = _process(examined)
        with another.transaction():
            if another.run("examine_process")[0]["process"] == process:
                return True
    return False


def _which(examined: ExaminedDatabase) -> str:
    wire = examined.wire
    names = [name for mark, name in POOLERS.items() if mark in wire.host]
    names += ["PgBouncer by its port"] if wire.port == PGBOUNCERS_PORT else []
    return f" ({names[0]})" if names else ""
