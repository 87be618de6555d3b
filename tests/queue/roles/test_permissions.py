"""Each role has exactly the privileges in permissions.toml."""

import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.queue.stage import Queue

pytestmark = pytest.mark.every_version

EXPECTED = Path(__file__).with_name("permissions.toml")

# Every privilege on the schema and on its objects, and the default privileges, except those of the owner.
# Postgres grants EXECUTE on functions and USAGE on types to everyone unless they are revoked.
HELD = """
with objects (kind, name, owner, acl) as (
    select 'schema', nspname::text, nspowner, nspacl from pg_namespace where nspname = 'minutehand'
    union all
    select case relkind when 'S' then 'sequence' else 'table' end, relname, relowner, relacl
      from pg_class where relnamespace = 'minutehand'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    union all
    select 'table', relname || '.' || attname, relowner, attacl
      from pg_attribute join pg_class c on c.oid = attrelid where relnamespace = 'minutehand'::regnamespace
    union all
    select 'function', proname, proowner, coalesce(proacl, acldefault('f', proowner))
      from pg_proc where pronamespace = 'minutehand'::regnamespace
    union all
    select 'type', typname, typowner, coalesce(typacl, acldefault('T', typowner))
      from pg_type t left join pg_class c on c.oid = t.typrelid
     where typnamespace = 'minutehand'::regnamespace and (typtype in ('d', 'e', 'r') or c.relkind = 'c')
    union all
    select 'default', defaclobjtype::text, defaclrole, defaclacl from pg_default_acl
)
select coalesce(pg_get_userbyid(nullif(grantee, 0)), 'public') as role, lower(privilege_type) as privilege, kind, name
  from objects, aclexplode(acl)
 where grantee <> owner
 order by 1, 2, 3, 4
"""


def held(queue: Queue) -> dict[str, dict[str, list[str]]]:
    """Return the objects by role and by privilege; a column is named table.column."""
    roles: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in queue.sql(HELD):
        role = row["role"].removeprefix("minutehand_")
        roles[role][f"{row['privilege']} {row['kind']}"].append(row["name"])
    return {role: dict(privileges) for role, privileges in roles.items()}


def expected() -> dict[str, Any]:
    return {
        role: {privilege: sorted(objects.split()) for privilege, objects in privileges.items()}
        for role, privileges in tomllib.loads(EXPECTED.read_text()).items()
    }


def test_each_role_has_exactly_its_permissions(queue: Queue) -> None:
    assert held(queue) == expected()


def test_migration_revokes_grants_to_public_and_excess_grants(queue: Queue) -> None:
    """As of an earlier version, or of a function that a migration has just created."""
    for grant in (
        "execute on function minutehand.enqueue_all to public",
        "usage on type minutehand.kind to public",
        "select on minutehand.jobs to public",
        "update, delete on minutehand.jobs to minutehand_tenant",
        "update (ack) on minutehand.jobs to minutehand_operator",
        "execute on function minutehand.lapse to minutehand_tenant",
    ):
        queue.database.connection.execute(f"grant {grant}".encode())
    queue.sql("select minutehand.revoke_others('public'), minutehand.grant_roles()")

    assert held(queue) == expected()
