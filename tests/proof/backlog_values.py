"""Values of the parameters that several statements share."""

ATTEMPT = {
    "outcome": "done",
    "seconds": 0.5,
    "result": None,
    "error": None,
    "worker": "a-worker",
    "request": None,
    "memory_mb": 512,
    "version": "7",
}
ATTEMPTS_OF_A_WORKER = {
    "outcomes": ["done"],
    "seconds": [0.5],
    "results": None,
    "errors": None,
    **{name: ATTEMPT[name] for name in ("worker", "request", "memory_mb", "version")},
}
JOB_OPTIONS = """
    queue group run_at delay priority max_attempts retry timeout headers every zone personal tenant unique_while
    unique_for debounce debounce_max throttle id expires on_dead batch
"""
AT_A_TIME = """
    check_batches delete_batches forget_times prune_groups prune_rates raise_floor remove_lanes start_sweep start_tick
    sweep
"""
OF_A_QUEUE = "why_dispatcher why_earliest why_pace why_served"
FILTERS = (
    "queue kind key group priority headers version tenant since until finished_since finished_until finished states"
    " result_dropped"
)
