"""`minutehand ls`, `show`, `queues`, `stats` and `retention`: pages, filters and attempts."""

import psycopg
import pytest

ATTEMPT = """
insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome, worker, version, request, error)
values (%s, 1, now() - interval '9 seconds', now(), 'default', 'echo', 'retrying', 'worker-function', '7', 'r-1',
        '{"type": "ValueError", "message": "no luck"}')
"""
ENDED = """
update minutehand.jobs
   set deleted = now() - %s::interval, failed = %s, claimed = now(), attempts = 1, version = '7'
"""

UNCLAIMED = """
insert into minutehand.unclaimed_offers (job, tenant, offers, offered, ended, outcomes, day)
values (%s, '', 22, array[now() - interval '2 minutes'], array[now()], '{lapsed}', current_date)
"""
OFFERED = """
update minutehand.jobs_live
   set offered = now() - interval '5 minutes', visible = now() - interval '3 minutes', ack = gen_random_uuid()
 where id = %s
"""


@pytest.fixture
def sql(direct_database):
    with psycopg.connect(direct_database.url, autocommit=True) as connection:
        yield connection.execute


def ids(result):
    return result.stdout.split()


def test_list_pages_in_both_directions_and_counts(invoke):
    for _ in range(5):
        invoke("enqueue", "echo")
    created = ids(invoke("ls", "-o", "ids"))

    assert ids(invoke("ls", "--after", created[4], "--limit", "2", "-o", "ids")) == created[2:4]
    assert ids(invoke("ls", "--last", "--limit", "2", "-o", "ids")) == created[3:]
    assert f"--after {created[3]}" in invoke("ls", "--last", "--limit", "2").stderr
    assert "5 jobs in total." in invoke("ls", "--limit", "2", "--total").stderr
    assert invoke("ls", "--last", "--before", created[0]).exit_code == 2


def test_list_is_filtered_by_time_and_version(invoke, sql):
    invoke("enqueue", "echo")
    sql(ENDED, ["3 hours", False])
    invoke("enqueue", "live")
    live, done = ids(invoke("ls", "-o", "ids"))

    assert ids(invoke("ls", "--finished-since", "4h", "-o", "ids")) == [done]
    assert ids(invoke("ls", "--finished-since", "2h", "-o", "ids")) == []
    assert ids(invoke("ls", "--finished-until", "2h", "-o", "ids")) == [done]
    assert ids(invoke("ls", "--version", "7", "-o", "ids")) == [done]
    assert ids(invoke("ls", "--since", "1h", "-o", "ids")) == [live, done]
    assert ids(invoke("ls", "--until", "2020-01-01", "--tz", "UTC", "-o", "ids")) == []
    assert "is neither a time nor how long ago" in invoke("ls", "--since", "yesterday").stderr


def test_job_is_shown_by_key_with_its_attempts(invoke, lines, sql):
    job = lines(invoke("enqueue", "echo", "--key", "welcome/ada", "--queue", "mail", "-o", "json"))[0]["id"]
    sql(ATTEMPT, [job])
    shown = invoke("show", "--key", "welcome/ada", "--queue", "mail")

    assert job in shown.stdout
    assert "retrying after 9 s by worker-function version 7 r-1: ValueError: no luck" in shown.stdout
    assert lines(invoke("show", job, "-o", "json"))[0]["history"][0]["request"] == "r-1"
    assert invoke("show", "--key", "other").exit_code == 1
    assert invoke("show").exit_code == invoke("show", job, "--key", "k").exit_code == 2


def test_queues_are_listed(invoke, lines):
    assert "no queues yet" in invoke("queues").stderr
    invoke("enqueue", "echo", "--queue", "mail")

    assert invoke("queues").stdout.split() == ["QUEUE", "mail"]
    assert lines(invoke("queues", "-o", "json")) == [{"queue": "mail"}]


def test_stats_count_since_and_by_kind(invoke, lines, sql):
    invoke("enqueue", "old")
    sql(ENDED, ["3 days", False])
    invoke("enqueue", "new")

    def counted(*options):
        return {(each["kind"], each["state"]) for each in lines(invoke("stats", *options, "-o", "json"))}

    assert counted() == {(None, "due")}
    assert counted("--since", "7d") == counted("--all") == {(None, "due"), (None, "done")}
    assert counted("--since", "7d", "--by", "kind") == {("new", "due"), ("old", "done")}
    assert counted("--all", "--kind", "old") == {(None, "done")}
    assert counted("--queue", "other") == set()
    assert invoke("stats", "--all", "--by", "kind").stdout.split()[:4] == ["QUEUE", "KIND", "DUE", "DONE"]


def test_stats_show_a_histogram(invoke, lines, sql):
    invoke("enqueue", "echo")
    sql(ENDED, ["1 second", True])
    drawn = lines(
        invoke("stats", "--histogram", "day", "--since", "48h", "--tz", "Asia/Kolkata", "-o", "json")
    )

    assert sum(each["dead"] for each in drawn) == 1
    assert len(drawn) == 3
    assert {each["start"][11:16] for each in drawn} == {"18:30"}
    assert "####" in invoke("stats", "--histogram", "hour").stdout
    assert "00:00 IST" in invoke("stats", "--histogram", "day", "--tz", "Asia/Kolkata").stdout
    assert {
        each["name"] for each in lines(invoke("stats", "--histogram", "hour", "--each", "kind", "-o", "json"))
    } == {"echo"}
    assert invoke("stats", "--histogram", "hour", "--tz", "Mars/Olympus").exit_code == 2


def test_stats_show_durations_failures_and_overview(invoke, lines, sql):
    assert "Nothing matches" in invoke("stats", "--failures").stderr
    job = lines(invoke("enqueue", "echo", "-o", "json"))[0]["id"]
    sql(ATTEMPT, [job])
    sql(ENDED, ["1 second", True])

    assert lines(invoke("stats", "--durations", "-o", "json"))[0]["run"]["p50"] == pytest.approx(9)
    assert "9.000 s" in invoke("stats", "--durations", "--by", "kind").stdout
    assert lines(invoke("stats", "--failures", "-o", "json"))[0]["error"] == "ValueError"
    assert "ValueError" in invoke("stats", "--failures").stdout
    assert lines(invoke("stats", "--today", "-o", "json"))[0]["pending"] == 0
    assert "last failed" in invoke("stats", "--today").stdout


def test_retention_is_set_listed_and_reset(invoke, lines):
    assert "kept forever" in invoke("retention").stderr
    invoke("retention", "--done", "24h", "--dead", "7d")
    invoke("retention", "--queue", "billing", "--done", "forever")
    invoke("retention", "--queue", "billing", "--events", "3d")
    every, billing = lines(invoke("retention", "-o", "json"))

    assert (every["queue"], every["done"], every["dead"], every["events"]) == (None, 86400.0, 604800.0, None)
    assert (billing["queue"], billing["done"], billing["events"]) == ("billing", "forever", 259200.0)
    assert "forever" in invoke("retention").stdout
    assert len(lines(invoke("retention", "--queue", "billing", "-o", "json"))) == 1
    invoke("retention", "--queue", "billing", "--reset", "--dead", "1d")
    assert lines(invoke("retention", "--queue", "billing", "-o", "json"))[0]["done"] is None
    invoke("retention", "--queue", "billing", "--reset")
    assert len(lines(invoke("retention", "-o", "json"))) == 1


def test_retention_waits_for_the_archive(invoke):
    assert "until their day is archived" in invoke("retention", "--keep-until-archived").stderr
    assert "until their day is archived" in invoke("retention").stderr
    assert "until their day is archived" not in invoke("retention", "--drop-unarchived").stderr
    assert invoke("retention", "--done", "yesterday").exit_code == 2


def test_show_lists_offers_that_no_worker_claimed(invoke, lines, sql):
    job = lines(invoke("enqueue", "echo", "-o", "json"))[0]["id"]
    sql(UNCLAIMED, [job])

    shown = " ".join(invoke("show", job).stdout.split())
    assert "unclaimed: 21 earlier unclaimed offers" in shown
    assert ", lapsed after 2 min" in shown
    assert lines(invoke("show", job, "-o", "json"))[0]["unclaimed"]["count"] == 22


def test_show_says_that_a_finished_job_was_offered_but_not_claimed(invoke, lines, sql):
    job = lines(invoke("enqueue", "echo", "-o", "json"))[0]["id"]
    sql(OFFERED, [job])
    due = invoke("show", job).stdout
    invoke("cancel", job)

    shown = invoke("show", job).stdout
    for each in (due, shown):
        assert "not claimed within 2 min" in " ".join(each.split())
    sql("update minutehand.jobs set claimed = offered where id = %s", [job])
    assert "not claimed" not in invoke("show", job).stdout
