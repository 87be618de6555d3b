"""Invalid arguments and options: each is a usage error (2), and its message names the option."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("cancel --queue mail --queue default", "--queue was given 2 times (mail, default); give it once"),
        ("ls --key a --key b --key=c", "--key was given 3 times (a, b, c); give it once"),
        ("pause --kind a --kind a", "--kind was given 2 times (a, a); give it once"),
    ],
)
def test_repeated_filter_is_a_usage_error(invoke, arguments, message):
    result = invoke(*arguments.split())

    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_filter_given_once_is_used(invoke, lines):
    for queue in ("mail", "default"):
        invoke("enqueue", "echo", "--queue", queue)

    assert [job["queue"] for job in lines(invoke("ls", "--queue", "mail", "-o", "json"))] == ["mail"]


@pytest.mark.parametrize(
    "arguments",
    [
        "enqueue echo --priority 11",
        "enqueue echo --queue a/b",
        "retry --state dead --rate 0",
        "limit 1 --queue a/b",
    ],
)
def test_argument_that_breaks_a_rule_is_a_usage_error(invoke, arguments):
    assert invoke(*arguments.split()).exit_code == 2


def test_cron_expression_of_three_fields_is_a_usage_error(invoke):
    assert invoke("schedules", "preview", "* * *").exit_code == 2


def test_rule_about_what_is_stored_is_a_refusal(invoke):
    missing = "019c2f6e-8f0a-7c3d-9a51-3f6f0f4f2a10"

    assert invoke("enqueue", "echo", "--batch", missing).exit_code == 1
    assert invoke("enqueue", "echo", "--after", missing).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("pause", "expected --queue, --kind, --key, --group, --of-tenant or --all, got none"),
        ("resume --all --queue mail", "expected --all or other options such as --queue, got both"),
        ("limit 1", "expected --queue, --kind, --key, --group, --of-tenant or --per, got none"),
        ("limit --queue mail", "expected JOBS, --rate, --in-order or --break-after, got none"),
        ("limit 1 --queue mail --burst 3", "--burst requires --rate"),
        ("limit 1 --queue mail --on-dead block", "--on-dead requires --in-order"),
        ("limit 1 --queue mail --break-for 1m", "--break-for requires --break-after"),
        ("limit 1 --per tenant --of-tenant a", "--per tenant must not be combined with --of-tenant"),
        ("limit --queue mail --in-order", "--in-order requires --group or --per group"),
        ("limit --per group --key a --break-after 3", "--break-after requires --group or --per group"),
        ("limit abc --queue mail", "must be an integer from 0 to 2147483647, got 'abc'"),
        ("limit 2147483648 --queue mail", "must be an integer from 0 to 2147483647, got '2147483648'"),
        (
            "limit 1 --queue mail --rate 1000001/1s",
            "--rate: N must be an integer from 1 to 1000000, got 1000001",
        ),
        (
            "limit --per group --break-after 1 --break-for 99d",
            "31 days with break_after, got 99 days, 0:00:00",
        ),
        ("limit --queue mail --rate 5/y", "--rate: must be N/PERIOD, such as 100/1m or 5/s, got '5/y'"),
        ("unlimit", "expected --queue, --kind, --key, --group, --of-tenant or --per, got none"),
    ],
)
def test_scope_and_limit_are_refused_in_terms_of_options(invoke, arguments, message):
    result = invoke(*arguments.split())

    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "ls --since yesterday",
            "--since: 'yesterday' is neither a time nor how long ago; write 7d, 2h30m, or",
        ),
        ("ls --since 2030-03-01T08:00", "has no offset"),
        ("enqueue echo --at 9999-12-31T23:00:00-12:00", "9999, got 9999-12-31 23:00:00-12:00"),
        ("enqueue echo --on-dead {bad", "must be JSON or a kind: Expecting property name"),
        ("retention --done foo", "must be a duration, such as 24h or 30d, or forever, got 'foo'"),
    ],
)
def test_unreadable_time_is_refused_with_what_is_allowed(invoke, arguments, message):
    result = invoke(*arguments.split())

    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "retry --state done",
            "only dead, expired and cancelled jobs can be retried; to run finished jobs again, use replay",
        ),
        ("cancel --state running", "can be cancelled; to ask running jobs to stop, use --running"),
        ("delete --state done", "can be deleted; to delete finished jobs, use --finished-until"),
        ("promote --state running", "only scheduled, due, offered and retrying jobs can be promoted"),
        ("edit --queue default --priority 12 --dry-run", "priority must be an integer from 0 to 9, got 12"),
        ("edit --queue default --timeout 2d --dry-run", "timeout must be a duration above zero"),
        ("edit --queue default --on-dead 9 --dry-run", "on_dead must be a kind"),
    ],
)
def test_impossible_change_is_refused_before_confirmation(invoke, arguments, message):
    for _ in range(2):
        invoke("enqueue", "echo")
    result = invoke(*arguments.split())

    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize("command", ["show", "why"])
def test_missing_key_names_the_only_queue_that_has_it(invoke, command):
    invoke("enqueue", "echo", "--key", "welcome/x", "--queue", "mail")
    missing = "queue default has no job with the key 'welcome/x'; name its queue with --queue"
    found = invoke(command, "--key", "welcome/x")
    invoke("enqueue", "echo", "--key", "welcome/x", "--queue", "sms")
    several = invoke(command, "--key", "welcome/x")

    assert (found.exit_code, found.stderr) == (1, f"error: {missing} (mail has one)\n")
    assert several.stderr == f"error: {missing}\n"


def test_time_in_the_past_is_named_as_the_reason_for_now(invoke):
    past = invoke("enqueue", "echo", "--at", "2020-03-01T08:00Z").stdout

    assert ", due now, because 2020-03-01 " in past
    assert past.endswith(" is in the past\n")
    assert invoke("enqueue", "echo").stdout.endswith(", due now\n")


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("stats --today --queue mail", "--today must not be combined with"),
        ("stats --today --failures", "expected one report, got --failures and --today"),
        ("stats --each kind", "--each requires --histogram"),
        ("stats --all --since 7d", "expected --since or --all, got both"),
        ("ls --last --all", "--after and --last must not be combined with --all"),
        ("ls --last -n 1001", "--after and --last must not be combined with --all"),
        ("tick --wake --dry-run", "expected --wake or --dry-run, got both"),
        ("pause --queue mail --for 0s", "--for: must be in the future"),
    ],
)
def test_option_that_would_have_no_effect_is_refused(invoke, command, reason):
    result = invoke(*command.split())

    assert (result.exit_code, reason in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize("command", ["ls", "pause --queue mail", "reschedule --in 1h --queue mail", "why"])
def test_unknown_zone_is_refused_without_a_time(invoke, command):
    result = invoke(*command.split(), "--tz", "Mars")

    assert result.exit_code == 2
    assert "--tz: must be an IANA time zone such as Europe/Berlin, got 'Mars'" in result.stderr
