"""What each role may do: the statements of the library, and SQL beyond it."""

from typing import LiteralString

WRITERS = ("enqueuer", "worker", "operator", "tenant")
ROLES = (*WRITERS, "reader")
# An operator of all tenants, and one confined to a tenant.
OPERATORS = ("operator", "tenant")

EVERY_ROLE = """
    as_tenant clock close_batch copy_incoming enqueue enqueue_alike enqueue_incoming enqueue_plain examine_disk
    examine_process examine_roles examine_server examine_snapshots health leave_tenant lock_installation
    check_edits migration_files migration_known migration_status open_batch callbacks_of has_other_writers store_events
    offer_now
    withdraw_now why_clock history_scope limit_time may_change
"""
WORKER = """
    adjust_budgets advance_schedules advance_settled cancel_lapsed claim delete_batches end_tick end_watches
    expire extend finish finish_done finish_in_batch fire fold_lanes free_keys make_days note_watch offer prune_firings
    prune_groups prune_rates raise_floor read_due_schedules reap release remove_lanes retain set_schedules_aside
    settle start_sweep start_tick note_wakeup note_mode supersede sweep take withdraw begin_wait end_wait poll
    ending_recurring forget_times kind_times record_times record_usage take_ahead check_batches check_predecessors
    count_minutes prune_history prune_unclaimed
"""
# Workers read the jobs that they finish, and code that declares schedules may install them when a worker starts.
WORKER_AND_OPERATORS = """
    check_claim count_enqueued count_finished count_jobs count_upcoming due_schedules encrypted_payloads
    find_batches near_batches fire_now first_due first_visible get get_batches get_by_key get_schedule get_states
    get_unfinished histogram list_controls list_holds list_batches list_enqueued list_firings list_jobs list_installed
    list_newer_jobs
    list_schedules outdated_payloads outdated_schedules pause_schedule delete_schedule replace_schedule_payload
    replay save_schedule stats today withdraw_ahead get_pause_of_everything
    finished_work dispatcher_usage why_controls why_earliest why_failing why_group why_line why_pace why_served
    why_awaited why_limited_line why_limited_next
    find_ids near_ids paused_due top_failing top_jobs
    list_installed_limits failing_kinds get_listed history_bound late_jobs newest_depths
"""
BOTH_OPERATORS = """
    cancel cancel_running delete delete_finished delete_upcoming durations edit failed_of_batch failures find_finished
    find_served history search_jobs search_dead count_states failures_by_cause
    list_attempts list_audit list_events list_queues list_unclaimed promote record_audit replace_payloads reschedule
    retry
    system_versions unblock_group unfinished_of_batch open_in_batch usage why_actor why_latest
"""
OPERATOR = """
    recall_offers end_control examine_queue get_keep_until_archived hold_ticks list_defaults list_retention set_limit
    note_source set_pause set_share end_share list_shares set_defaults set_keep_until_archived set_queue_defaults
    set_retention
"""

# What an operator may read.
READER = """
    as_tenant attention_dispatcher check_claim clock count_due count_enqueued count_finished count_jobs count_states
    count_upcoming depths dispatcher_usage due_schedules durations encrypted_payloads examine_disk
    examine_process examine_queue examine_roles examine_server examine_snapshots failed_of_batch
    failing_kinds failures failures_by_cause find_batches find_finished find_ids find_served finished_work
    first_due first_visible get get_batches get_by_key get_keep_until_archived get_listed get_pause_of_everything
    get_schedule get_states get_unfinished has_checks has_other_writers health histogram history
    history_bound history_scope late_jobs leave_tenant list_attempts list_audit list_batches
    list_controls list_defaults list_enqueued list_events list_firings list_holds list_installed
    list_installed_limits list_jobs list_newer_jobs list_queues list_retention list_schedules list_shares list_unclaimed
    lock_installation max_result may_change migration_files migration_known migration_status near_batches near_ids
    newest_depths next_need outdated_payloads outdated_schedules paused_due search_dead search_jobs stats
    stored_mode system_budgets system_state system_versions today top_failing top_jobs top_queues top_state
    limit_time unfinished_of_batch usage why_actor why_awaited why_clock why_controls why_dispatcher why_earliest
    why_failing why_group why_latest why_limited_line why_limited_next why_line why_pace why_served
"""

# The roles that may run each statement. The owner may run all.
MAY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(EVERY_ROLE.split(), WRITERS),
    **dict.fromkeys(WORKER.split(), ("worker",)),
    **dict.fromkeys(
        [
            "count_due",
            "end_dead_loads",
            "max_result",
            "next_need",
            "why_dispatcher",
            "has_checks",
            "attention_dispatcher",
            "top_queues",
            "top_state",
            "depths",
            "system_budgets",
            "system_state",
            "stored_mode",
        ],
        ("worker", "operator"),
    ),
    **dict.fromkeys(WORKER_AND_OPERATORS.split(), ("worker", *OPERATORS)),
    **dict.fromkeys(BOTH_OPERATORS.split(), OPERATORS),
    **dict.fromkeys(OPERATOR.split(), ("operator",)),
}

MAY |= {name: (*MAY[name], "reader") for name in READER.split()}

# SQL that no role may run.
OWNER_ONLY: list[LiteralString] = [
    "create table minutehand.evil ()",
    "create function minutehand.evil() returns integer language sql as 'select 1'",
    "create index on minutehand.jobs_live (kind)",
    "create trigger evil after insert on minutehand.jobs_live execute function minutehand.record_lanes()",
    "create rule evil as on insert to minutehand.jobs_live do nothing",
    "alter table minutehand.jobs_live add column evil text",
    "alter table minutehand.jobs_live disable trigger user",
    "alter table minutehand.jobs_done detach partition minutehand.jobs_done_default",
    "alter function minutehand.make_days(integer, date) security invoker",
    "alter schema minutehand rename to evil",
    "drop table minutehand.jobs_done_default",
    "drop table minutehand.lanes",
    "drop schema minutehand cascade",
    "truncate minutehand.jobs",
    "truncate minutehand.new_jobs",
    "insert into minutehand.jobs_live (kind) values ('evil')",
    "insert into minutehand.jobs (kind, deleted) values ('evil', now())",
    "insert into minutehand.migrations values (99, 'evil', 'evil')",
    "insert into minutehand.schema_files values ('evil', 'evil', '{}')",
    "update minutehand.jobs_live set payload = '1'",
    "update minutehand.jobs set tenant = 'evil'",
    "update minutehand.jobs_live set tenant = 'evil'",
    "update minutehand.jobs set kind = 'evil'",
    "update minutehand.jobs set id = gen_random_uuid()",
    "update minutehand.jobs_live set max_attempts = 1",
    "update minutehand.settings set max_payload = 1",
    "update minutehand.new_jobs set kind = 'evil'",
    "delete from minutehand.jobs_live",
    "delete from minutehand.dispatcher",
    "delete from minutehand.defaults",
    "select * from minutehand.new_jobs",
    "select minutehand.make_days(100000)",
    "select minutehand.make_days(0, '2030-01-01')",
    "select minutehand.make_days(-1, null)",
    "select minutehand.upcoming('', 'default', 'key', 'replace')",
    "select minutehand.check_new(null, 'replace')",
    "select minutehand.grant_roles()",
    "select minutehand.make_policies('minutehand_tenant')",
    "select minutehand.check_tenants(null)",
    "select * from minutehand.tenant_roles",
    "insert into minutehand.tenant_roles values (current_user, 'evil')",
    "alter table minutehand.jobs disable row level security",
    "drop policy minutehand_tenant on minutehand.jobs",
    "create policy evil on minutehand.jobs to public using (true)",
    "alter policy minutehand_tenant on minutehand.jobs using (true)",
    "delete from minutehand.audit",
    "update minutehand.audit set actor = 'evil'",
    "delete from minutehand.attempts",
    "delete from minutehand.events",
    "select minutehand.hand_over(current_user)",
    "set role minutehand_migrator",
    "set role postgres",
    "grant minutehand_migrator to current_user",
]
# SQL that some roles may run, in addition to the statements.
OTHER_SQL: dict[LiteralString, tuple[str, ...]] = {
    "select payload from minutehand.jobs": ("worker", *OPERATORS, "reader"),
    "select result, headers from minutehand.jobs": ("worker", *OPERATORS, "reader"),
    "select minutehand.state(j) from minutehand.jobs j": ("worker", *OPERATORS, "reader"),
    "select payload from minutehand.jobs_live": ("worker", *OPERATORS, "reader"),
    "select payload from minutehand.jobs_done_default": ("operator", "reader"),
    "select from minutehand.jobs_live": ("worker", *OPERATORS, "reader"),
    "update minutehand.jobs set payload = '1'": (),
    "update minutehand.jobs set ack = gen_random_uuid(), claimed = now()": (),
    "update minutehand.jobs set deleted = now()": ("worker",),
    "select from minutehand.jobs for update": ("worker",),
    "lock table minutehand.jobs in row exclusive mode": (),
    "lock table minutehand.schedules in row exclusive mode": (),
    "update minutehand.jobs set kind = 'evil'": (),
    "delete from minutehand.jobs": (),
    "insert into minutehand.attempts default values": ("worker",),
    "insert into minutehand.audit (actor, verb) values ('a', 'b')": (),
    "insert into minutehand.events (name) values ('done')": (),
    "insert into minutehand.controls (queue, paused) values ('default', true)": ("operator",),
    "delete from minutehand.schedules": (),
    "insert into minutehand.schedules (name, every, job) values ('evil', '@daily', '[]')": (),
    "update minutehand.schedules set job = '[]'": (),
    "insert into minutehand.defaults (kind) values ('evil')": ("operator",),
    "insert into minutehand.queue_defaults (queue) values ('evil')": ("operator",),
    "insert into minutehand.retention (what) values ('done')": ("operator",),
    "select * from minutehand.settings": ("operator", "reader"),
    "update minutehand.settings set keep_until_archived = true": ("operator",),
    "select * from minutehand.lanes": ("worker", "operator", "reader"),
    "select * from minutehand.defaults": ("operator", "reader"),
    "update minutehand.dispatcher set ticked = now()": ("worker",),
    "update minutehand.lanes set floor = now()": ("worker",),
    "update minutehand.lanes set queue = 'evil'": (),
    "delete from minutehand.lanes": ("worker",),
    "delete from minutehand.lane_changes": ("worker",),
    "insert into minutehand.lane_changes (visible) values ('infinity')": (),
    "select minutehand.make_days_ahead()": ("worker",),
    "select minutehand.retain_now()": ("worker",),
    "select minutehand.retain()": (),
    "select minutehand.hold_ticks()": ("operator",),
}
