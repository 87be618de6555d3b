"""The fences of flow control, batches and successors, each with a change that removes it."""

from functools import partial

from tests.soak.fences import Fence
from tests.soak.flow_load import FlowLoad

FUNCTIONS = "schema/functions"
EACH = "limits of each hold"
CALLBACKS = "batches call back once"

# Their faults need no coincidence.
_fence = partial(Fence, load=FlowLoad, seconds=20.0)

FLOW_FENCES = (
    _fence(
        "one job of a group",
        f"{FUNCTIONS}/limits.sql",
        "'group', false, '', 1)::minutehand.bound);",
        "'group', false, '', 9)::minutehand.bound);",
        (EACH,),
    ),
    _fence(
        "limit per each",
        f"{FUNCTIONS}/limits.sql",
        "else c.max_running end",
        "else case c.per when '' then c.max_running end end",
        (EACH,),
    ),
    _fence(
        "order of a group",
        f"{FUNCTIONS}/groups.sql",
        "select c.on_dead",
        "select null",
        ("groups are in order",),
    ),
    _fence(
        "rate of a group",
        f"{FUNCTIONS}/limits.sql",
        "where b.starts\n     group by",
        "where false\n     group by",
        ("rates hold",),
    ),
    _fence(
        "breaker of a group",
        f"{FUNCTIONS}/breakers.sql",
        "if ended.failures > 0 and ended.break_after is not null then",
        "if false then",
        ("breakers hold",),
    ),
    _fence(
        "one callback",
        f"{FUNCTIONS}/batches.sql",
        "    return (select p.id from minutehand.put_all(",
        "    perform minutehand.put_all(array[item], 'replace', clock_timestamp(), 1, '');\n"
        "    return (select p.id from minutehand.put_all(",
        (CALLBACKS,),
    ),
    _fence(
        "open jobs of a batch",
        f"{FUNCTIONS}/batch_checks.sql",
        " + coalesce((select sum(a.open) from minutehand.batch_changes a where a.batch = of_batch), 0)",
        "",
        (CALLBACKS,),
    ),
    _fence(
        "all predecessors",
        f"{FUNCTIONS}/predecessors.sql",
        " and (given.cancels or not exists (select from minutehand.waits w where w.successor = s.id))",
        "",
        ("successors follow",),
    ),
)
