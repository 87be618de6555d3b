"""Control: a pause or a limit of the jobs that match its names, and the checks that Python can make of one."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from minutehand.errors import InvalidJobError
from minutehand.model.row import Row

SCOPE = ("queue", "kind", "key", "group", "tenant")
Per = Literal["", "group", "key", "tenant"]
PER = ("group", "key", "tenant")
OnDead = Literal["block", "continue"]
ON_DEAD = ("block", "continue")
# What a limit declares.
LIMITING = ("limit", "rate", "period", "burst", "in_order", "on_dead", "break_after", "break_for")
BREAK_FOR = timedelta(minutes=1)
LONGEST_PERIOD = timedelta(days=31)
MOST_STARTS = 1_000_000
MOST_JOBS = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class Control:
    """A pause (`until` a time, or until `resume`), a limit, or both.

    It applies to the jobs that match all of queue, kind, key, group and tenant; an empty one matches any, so a control
    without names applies to all jobs. `per` makes it a limit of each group, key or tenant.

    `limit` is how many jobs may be offered or running at once. `rate` is how many may start in each `period`, and
    `burst` how many of them at the same time. With `in_order`, the jobs of a group start in the order of `run_at`, and
    `on_dead` decides whether a dead job blocks the group. After `break_after` consecutive failures, no job of the group
    starts for `break_for`; then one at a time does, until one succeeds.

    `busy` is the number of jobs offered or running. With `per`, it is that of the group, key or tenant with most of
    them, and `full` is how many of these have no room. `free_at` is when an exhausted rate or an open breaker allows
    the next start, and `open` is how many groups have a breaker that is open or half open.
    """

    queue: str = ""
    kind: str = ""
    key: str = ""
    group: str = ""
    tenant: str = ""
    per: Per = ""
    paused: bool = False
    limit: int | None = None
    rate: int | None = None
    period: timedelta | None = None
    burst: int | None = None
    in_order: bool | None = None
    on_dead: OnDead | None = None
    break_after: int | None = None
    break_for: timedelta | None = None
    until: datetime | None = None
    reason: str | None = None
    changed: datetime | None = None
    busy: int | None = None
    full: int | None = None
    free_at: datetime | None = None
    open: int | None = None

    @property
    def scope(self) -> str:
        """The jobs it applies to, in words: `queue mail, each group`, or `all jobs`."""
        names = [f"{name} {getattr(self, name)}" for name in SCOPE if getattr(self, name)]
        return ", ".join([*names, *([f"each {self.per}"] if self.per else [])]) or "all jobs"

    @property
    def limits(self) -> str:
        """What it limits, in words: `at most 2 at once, in order`; empty for a pause."""
        return ", ".join(_limits(self))

    @property
    def place(self) -> tuple[str, str, str, str, str, str]:
        """Its place in a list: tenant, queue, kind, key, group and per."""
        return self.tenant, self.queue, self.kind, self.key, self.group, self.per

    def applies_to(self, row: Row) -> bool:
        """Whether it applies to a job."""
        has_value = not self.per or bool(getattr(row, self.per))
        return has_value and all(getattr(self, name) in ("", getattr(row, name)) for name in SCOPE)


@dataclass(frozen=True, kw_only=True)
class Hold:
    """A group that `RetryAfter` holds back: none of its jobs starts until then, or until `unblock`."""

    queue: str
    group: str
    tenant: str = ""
    held_until: datetime


def _limits(control: Control) -> list[str]:
    texts = []
    if control.limit is not None:
        texts.append(f"at most {control.limit} at once")
    if control.rate is not None:
        seconds = (control.period or timedelta()).total_seconds()
        texts.append(f"{control.rate} starts in {seconds:g} s, bursts of {control.burst}")
    if control.in_order:
        texts.append(f"in order, a dead job {'blocks' if control.on_dead == 'block' else 'is passed over'}")
    if control.break_after is not None:
        seconds = (control.break_for or timedelta()).total_seconds()
        texts.append(f"a pause of {seconds:g} s after {control.break_after} failures in a row")
    return texts


def check_scope(
    queue: str, kind: str, key: str, group: str, tenant: str, *, per: str = "", everything: bool = False
) -> dict[str, Any]:
    """Return the names of a control; raise InvalidJobError if they name nothing, or contradict each other."""
    names = {"queue": queue, "kind": kind, "key": key, "group": group, "tenant": tenant, "per": per}
    scope: dict[str, Any] = {name: value or "" for name, value in names.items()}
    if any(scope.values()) == everything:
        expected, got = ("everything or a scope", "both") if everything else ("at least one", "none")
        message = f"expected {expected} of queue, kind, key, group and tenant, got {got}"
        raise InvalidJobError("control_is_named", message)
    if scope["per"] and scope["per"] not in PER:
        raise InvalidJobError("per_is_known", f"per must be group, key or tenant, got {per!r}")
    if scope["per"] and scope[scope["per"]]:
        raise InvalidJobError("per_is_of_each", f"a limit per {per} must not name a {per}")
    return scope


def check_limit(scope: dict[str, str], **values: Any) -> dict[str, Any]:
    """Return what a limit declares, with defaults; raise InvalidJobError if that is nothing, or contradicts itself."""
    given = dict.fromkeys(LIMITING) | values
    _check_integer("limit", given["limit"], 0, MOST_JOBS)
    for name in ("rate", "burst", "break_after"):
        _check_integer(name, given[name], 1, MOST_STARTS)
    if all(given[name] is None for name in ("limit", "rate", "break_after")) and not given["in_order"]:
        raise InvalidJobError(
            "limit_is_set", "expected at least one of limit, rate, in_order and break_after"
        )
    _check_rate(given)
    _check_breaker(scope, given)
    if given["in_order"] and (
        scope["kind"] or scope["key"] or not (scope["group"] or scope["per"] == "group")
    ):
        raise InvalidJobError(
            "order_is_of_groups",
            "in_order requires a group or a limit per group, and must not be combined with kind or key",
        )
    if given["on_dead"] is not None and (not given["in_order"] or given["on_dead"] not in ON_DEAD):
        raise InvalidJobError("order_ends", "on_dead must be block or continue, and requires in_order")
    defaults = {
        "burst": given["rate"],
        "on_dead": "continue" if given["in_order"] else None,
        "break_for": BREAK_FOR if given["break_after"] else None,
    }
    return {name: defaults.get(name) if value is None else value for name, value in given.items()}


def _check_breaker(scope: dict[str, str], given: dict[str, Any]) -> None:
    pause = given["break_for"]
    if pause is not None and (
        not isinstance(pause, timedelta)
        or given["break_after"] is None
        or not timedelta(seconds=1) <= pause <= LONGEST_PERIOD
    ):
        raise InvalidJobError(
            "break_is_bounded",
            f"break_for must be a timedelta from 1 s to 31 days with break_after, got {_shown(pause)}",
        )
    if given["break_after"] is not None and (
        scope["kind"] or scope["key"] or not (scope["group"] or scope["per"] == "group")
    ):
        raise InvalidJobError(
            "breaker_is_of_groups",
            "break_after requires a group or a limit per group, and must not be combined with kind or key",
        )


def _check_rate(given: dict[str, Any]) -> None:
    period = given["period"]
    if (given["rate"] is None) != (period is None) or (given["burst"] is not None and period is None):
        raise InvalidJobError(
            "rate_has_a_period", "rate must be set together with period, and burst requires both"
        )
    if period is not None and not (
        isinstance(period, timedelta) and timedelta(milliseconds=1) <= period <= LONGEST_PERIOD
    ):
        raise InvalidJobError(
            "rate_has_a_period", f"period must be a timedelta from 1 ms to 31 days, got {_shown(period)}"
        )


def _shown(value: object) -> str:
    return str(value) if isinstance(value, timedelta) else repr(value)


def _check_integer(name: str, value: Any, least: int, most: int) -> None:
    if value is not None and (
        isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most
    ):
        raise InvalidJobError(
            f"{name}_is_at_least_{least}", f"{name} must be an integer from {least} to {most}, got {value!r}"
        )
