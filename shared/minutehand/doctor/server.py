"""Checks of the server and of the way to it, which need no privilege."""

from datetime import timedelta

from minutehand.doctor.finding import Opinion, ok, problem, skipped, warning
from minutehand.doctor.patient import Patient

SLOW_MS = 500
OLDEST_VERSION = 150000
CLOCKS_APART = timedelta(seconds=2)
TRIES = 3
POOLERS = {"-pooler.": "Neon's", ".pooler.supabase.": "Supabase's", ".proxy-": "RDS Proxy"}
PGBOUNCERS_PORT = 6432


def reachable(patient: Patient) -> Opinion:
    """Whether the database answers, and how fast."""
    opening, answering = patient.milliseconds
    found = f"connected in {opening} ms, answered in {answering} ms"
    if answering > SLOW_MS:
        return warning(found, "a tick makes a dozen statements: run the functions in the database's region")
    return ok(found)


def writable(patient: Patient) -> Opinion:
    """Whether it takes writes."""
    if patient.ask("examine_server")["read_only"]:
        return problem(
            "a replica, or a database that is set to read only", "name the writable one in DATABASE_URL"
        )
    return ok("it takes writes")


def version(patient: Patient) -> Opinion:
    """Whether the server is one that minutehand runs on."""
    server = patient.ask("examine_server")
    if server["version"] < OLDEST_VERSION:
        return problem(
            f"PostgreSQL {server['named']}", "upgrade the server: minutehand needs PostgreSQL 15 or newer"
        )
    return ok(f"PostgreSQL {server['named']}")


def tls(patient: Patient) -> Opinion:
    """Whether the way to the server is encrypted, and its certificate verified, unless it stays on this machine."""
    way = patient.wire
    if way.loopback:
        return ok("the connection stays on this machine")
    if not way.encrypted:
        return problem(
            "the connection is not encrypted: passwords and payloads can be read on the way",
            "set MINUTEHAND_DATABASE_TLS=verify, or sslmode=verify-full in the URL",
        )
    if way.sslmode != "verify-full":
        return warning(
            f"encrypted, but with sslmode={way.sslmode} anybody may pose as the server",
            "set MINUTEHAND_DATABASE_TLS=verify, or sslmode=verify-full in the URL",
        )
    return ok("encrypted, and the server's certificate is verified")


def login(patient: Patient) -> Opinion:
    """Whether the role that is logged in can do more than it has to."""
    server = patient.ask("examine_server")
    if server["superuser"]:
        return warning(
            f"{server['login']} is a superuser",
            "give each part a login that is a member of its role: docs/operating.md says which",
        )
    return ok(f"{server['login']} is no superuser")


def pooler(patient: Patient) -> Opinion:
    """Whether a transaction pooler stands before the server, as far as a client can tell."""
    if _shared(patient):
        return ok(f"a transaction pooler{_which(patient)}: two clients were given one server connection")
    if patient.wire.process == _process(patient):
        return ok("no pooler: each worker holds a connection of the server while it lives")
    return warning(
        f"a pooler or proxy{_which(patient)} that did not share a server connection between two clients",
        "if it is a pooler in session mode, use its transaction mode: workers keep their connections while idle",
    )


def prepared(patient: Patient) -> Opinion:
    """Whether anybody leaves prepared statements on the server's connections."""
    if patient.wire.prepares:
        return problem("the driver prepares statements", "open connections with minutehand.database.connect")
    if (count := patient.ask("examine_server")["prepared"]) and patient.wire.process != _process(patient):
        return warning(
            f"{count} prepared statements on a connection that clients share: not ours, which prepares none",
            "turn server-side prepared statements off in the other clients of this pooler",
        )
    return ok("nothing is prepared on the server")


def clock(patient: Patient) -> Opinion:
    """Whether this machine's clock and the database's agree; jobs go by the database's alone."""
    before = patient.now()
    theirs = patient.database.run("clock")[0]["now"]
    apart = theirs - (before + (patient.now() - before) / 2)
    found = f"the database's clock is {abs(apart).total_seconds():.1f} s {'ahead' if apart > timedelta() else 'behind'}"
    if abs(apart) > CLOCKS_APART:
        return warning(
            f"{found} of this machine's",
            "set the clock that is wrong (NTP); times computed here and stored there are off by as much",
        )
    return ok(f"the clocks are {abs(apart).total_seconds():.1f} s apart")


def connections(patient: Patient) -> Opinion:
    """Whether there are connections left for as many workers as may run at once."""
    server = patient.ask("examine_server")
    found = f"{max(0, server['free'])} of {server['most']} connections are free, and capacity is {patient.capacity}"
    if server["free"] >= patient.capacity:
        return ok(found)
    if patient.wire.process != _process(patient):
        return ok(f"{found}; behind a pooler that is no limit by itself")
    return problem(
        found, "lower MINUTEHAND_CAPACITY, raise max_connections, or put a transaction pooler between"
    )


def autovacuum(patient: Patient) -> Opinion:
    """Whether vacuum does its work."""
    advice = "set autovacuum and track_counts to on: without them the queue's table only grows"
    if not patient.ask("examine_server")["autovacuum"]:
        return problem("autovacuum is off on this server", advice)
    if patient.ask("examine_queue")["unvacuumed"]:
        return problem(
            "autovacuum is off for minutehand.jobs_live",
            "alter table minutehand.jobs_live reset (autovacuum_enabled)",
        )
    return ok("autovacuum is on")


def old_snapshot(patient: Patient) -> Opinion:
    """Whether somebody's transaction keeps vacuum from its work."""
    oldest = patient.ask("examine_snapshots")
    if oldest["age"] and oldest["age"] > patient.patience:
        who = "" if oldest["pid"] is None else f"pid {oldest['pid']}, "
        name = oldest["name"] or "without a name"
        asked = (
            f"last statement at {oldest['asked']:%Y-%m-%d %H:%M:%S %Z}" if oldest["asked"] else "no statement"
        )
        return problem(
            f"a transaction is open for {oldest['age'].total_seconds():.0f} s: {who}{name}, {asked}",
            f"end it where it was begun, or: select pg_terminate_backend({oldest['pid']})"
            if oldest["pid"]
            else "commit or roll back the prepared transaction",
        )
    if not oldest["sees_all"]:
        return skipped(
            "this role does not see other roles' transactions; a superuser may grant pg_read_all_stats to it"
        )
    return ok("no transaction has been open for more than a minute")


def _process(patient: Patient) -> int:
    """Return the server process that answers at the moment."""
    process: int = patient.database.run("examine_process")[0]["process"]
    return process


def _shared(patient: Patient) -> bool:
    """Whether another client is given the server process that has just answered this one."""
    for _ in range(TRIES):
        mine = _process(patient)
        with patient.another.transaction():
            if patient.another.run("examine_process")[0]["process"] == mine:
                return True
    return False


def _which(patient: Patient) -> str:
    way = patient.wire
    names = [name for mark, name in POOLERS.items() if mark in way.host]
    names += ["PgBouncer by its port"] if way.port == PGBOUNCERS_PORT else []
    return f" ({names[0]})" if names else ""
