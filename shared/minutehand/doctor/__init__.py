"""Doctor: checks an installation, and reports for each check what was found and what to do."""

from collections.abc import Callable, Mapping

from minutehand.doctor import functions, invocations, queue, server
from minutehand.doctor.examined import ExaminedDatabase
from minutehand.doctor.finding import Finding, Opinion, problem, skipped
from minutehand.doctor.stack import Stack
from minutehand.errors import DatabaseError, ForbiddenError, SchemaError, UnreachableError

__all__ = [
    "DATABASE_CHECKS",
    "STACK_CHECKS",
    "ExaminedDatabase",
    "Finding",
    "examine_database",
    "examine_stack",
]

DATABASE_CHECKS: Mapping[str, Callable[[ExaminedDatabase], Opinion]] = {
    "reachable": server.reachable,
    "writable": server.writable,
    "disk": server.disk,
    "version": server.version,
    "tls": server.tls,
    "login": server.login,
    "pooler": server.pooler,
    "prepared": server.prepared,
    "clock": server.clock,
    "connections": server.connections,
    "schema": queue.schema,
    "roles": queue.roles,
    "autovacuum": server.autovacuum,
    "old-snapshot": server.old_snapshot,
    "dead-rows": queue.dead_rows,
    "days": queue.days,
    "default-day": queue.default_day,
    "last-tick": queue.last_tick,
    "wakeup": queue.wakeup,
    "paused": queue.paused,
    "late": queue.late,
    "dead": queue.dead,
    "schedules": queue.schedules,
    "batches": queue.batches,
    "loads": queue.loads,
    "max-payload": queue.max_payload,
}
STACK_CHECKS: Mapping[str, Callable[[Stack], Opinion]] = {
    "functions": functions.functions,
    "runtime": functions.runtime,
    "architecture": functions.architecture,
    "timeouts": functions.timeouts,
    "variables": functions.variables,
    "routes": functions.routes,
    "offer-ttl": invocations.offer_ttl,
    "retries": invocations.retries,
    "event-age": invocations.event_age,
    "on-failure": invocations.on_failure,
    "failures": invocations.failures,
    "schedule": invocations.schedule,
    "concurrency": invocations.concurrency,
    "reach-database": invocations.reach_database,
    "reach-workers": invocations.reach_workers,
}


def examine_database(examined: ExaminedDatabase) -> list[Finding]:
    """Run every check of a database; a check that cannot run is skipped, with the reason."""
    findings: list[Finding] = []
    for name, check in DATABASE_CHECKS.items():
        findings.append(Finding.of(name, _run(check, examined)))
        if name == "reachable" and findings[0].verdict == "problem":
            rest = [other for other in DATABASE_CHECKS if other != name]
            return findings + [Finding.of(other, skipped("the database cannot be reached")) for other in rest]
    return findings


def examine_stack(stack: Stack) -> list[Finding]:
    """Run every check of a stack on AWS."""
    return [Finding.of(name, check(stack)) for name, check in STACK_CHECKS.items()]


def _run(check: Callable[[ExaminedDatabase], Opinion], examined: ExaminedDatabase) -> Opinion:
    try:
        return check(examined)
    except UnreachableError as error:
        return problem(str(error), "check DATABASE_URL, the server, and the network between them")
    except ForbiddenError as error:
        return skipped(f"{error}; run this as a member of minutehand_operator or minutehand_reader")
    except SchemaError as error:
        return skipped(str(error))
    except DatabaseError as error:
        return problem(str(error), "this is unexpected; see the server's log")
