"""Missing roles and privileges, as the doctor finds them."""

import psycopg
from psycopg import sql

from minutehand import Database
from minutehand.doctor import DATABASE_CHECKS, ExaminedDatabase
from tests.doctor.conftest import Examine, Installation, complaints
from tests.servers import Servers


def test_checks_without_privileges_are_skipped(installation: Installation, examine: Examine) -> None:
    installation.sql(
        "revoke minutehand_operator, minutehand_worker from {}; grant minutehand_enqueuer to {}",
        installation.login,
        installation.login,
    )
    findings = examine(installation.url)

    skipped = {name for name, finding in findings.items() if finding.verdict == "skipped"}
    assert complaints(findings) == set()
    assert skipped == {
        "wakeup",
        "autovacuum",
        "batches",
        "dead-rows",
        "days",
        "default-day",
        "last-tick",
        "late",
        "loads",
        "dead",
        "max-payload",
        "paused",
        "schedules",
    }
    assert "minutehand_operator" in findings["days"].found


GRANTS = """
    select a.grantee::regrole::text, a.privilege_type, 'table ' || c.oid::regclass, null
      from pg_class c, aclexplode(relacl) a where relnamespace = 'minutehand'::regnamespace
    union all
    select a.grantee::regrole::text, a.privilege_type, 'table ' || attrelid::regclass, attname
      from pg_attribute, aclexplode(attacl) a
    union all
    select a.grantee::regrole::text, a.privilege_type, 'function ' || p.oid::regprocedure, null
      from pg_proc p, aclexplode(proacl) a where pronamespace = 'minutehand'::regnamespace
    union all
    select a.grantee::regrole::text, a.privilege_type, 'schema ' || nspname, null
      from pg_namespace, aclexplode(nspacl) a where nspname = 'minutehand'"""


def test_every_missing_grant_is_found(installation: Installation) -> None:
    with psycopg.connect(installation.admin_url) as admin:
        grants = [grant for grant in admin.execute(GRANTS).fetchall() if grant[0].startswith("minutehand_")]
        whole = {grant[:3] for grant in grants if grant[3] is None}
        missed = []
        for role, privilege, thing, column in grants:
            if column and (role, privilege, thing) in whole:
                continue  # the table-level grant remains
            with admin.transaction(force_rollback=True):
                what = f'{privilege} ("{column}")' if column else privilege
                admin.execute(sql.SQL(f"revoke {what} on {thing} from {role}"))  # type: ignore[arg-type]
                examined = ExaminedDatabase(Database.borrow(admin), Database.borrow(admin), 50)
                found = DATABASE_CHECKS["roles"](examined)
                expected = f"{role} lacks {privilege.lower()}"
                if found.verdict != "problem" or not found.found.startswith(expected):
                    missed.append((role, privilege, thing, column))

    assert len(grants) > 60
    assert missed == [], str(missed)


def test_missing_role_is_a_warning(installation: Installation, examine: Examine, servers: Servers) -> None:
    """Roles belong to the server, so the test renames one on a server of its own."""
    installation.sql("alter role minutehand_migrator rename to somebody_else")
    try:
        findings = examine(installation.url)
    finally:
        installation.sql("alter role somebody_else rename to minutehand_migrator")

    assert complaints(findings) == {"roles"}
    assert findings["roles"].found == "the role does not exist: minutehand_migrator"
