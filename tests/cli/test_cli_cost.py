"""`minutehand cost`: figures, prices of one's own, months, and messages."""

import re
import tomllib

import psycopg
import pytest

from minutehand.costs.prices import read_prices
from minutehand.errors import ConfigurationError

ATTEMPT = """
insert into minutehand.attempts (job, attempt, started, ended, queue, kind, outcome, worker, request, memory_mb)
values (minutehand.uuid7(), 1, %s, %s, 'default', %s, %s, 'worker', %s, %s)
"""
DAY = "2020-02-01T00:00:"
NO_OVERHEAD = "[functions]\ncold_share = 0\n[minute]\noverhead_ms = 0\n[sleep]\noverhead_ms = 0\n"


@pytest.fixture
def attempt(direct_database):
    """Store an attempt in the first minute of February 2020: `attempt(begin, end, request)`."""
    with psycopg.connect(direct_database.url, autocommit=True) as connection:

        def store(begin, end, request, kind="mail", *, outcome="done", memory_mb=1024, day=DAY):
            times = (f"{day}{begin:07.4f}Z", f"{day}{end:07.4f}Z")
            connection.execute(ATTEMPT, [*times, kind, outcome, request, memory_mb])

        yield store


@pytest.fixture
def cost(invoke, lines, tmp_path):
    """Return the report of February 2020 with prices of one's own."""

    def report(*options, prices=NO_OVERHEAD):
        (tmp_path / "prices.toml").write_text(prices)
        given = ("--month", "2020-02", "--prices", str(tmp_path / "prices.toml"), "-o", "json")
        (found,) = lines(invoke("cost", *given, *options))
        return found

    return report


def test_invocation_is_billed_once_and_shared_by_its_kinds(cost, attempt):
    attempt(0, 3, "a", "mail")
    attempt(3, 4, "a", "report")
    attempt(10, 10.0015, "b", "report")

    mail, report = cost()["kinds"]

    assert (mail["kind"], mail["attempts"], mail["invocations"]) == ("mail", 1, 0.5)
    assert mail["gb_seconds"] == pytest.approx(3)
    assert mail["dollars"] == pytest.approx(3 * 1.33334e-5 + 0.5 * 0.2e-6)
    assert (report["attempts"], report["invocations"]) == (2, 1.5)
    # The second invocation is rounded up to milliseconds.
    assert report["gb_seconds"] == pytest.approx(1.002)


def test_concurrent_and_grouped_attempts_count_their_time_once(cost, attempt):
    attempt(0, 2, "together")
    attempt(0.5, 2, "together")
    # Three attempts of 10 ms, one after the other, whose outcomes were written together.
    for _ in range(3):
        attempt(4.99, 5, "grouped")

    (mail,) = cost()["kinds"]

    assert mail["gb_seconds"] == pytest.approx(2 + 0.030, abs=0.0015)


def test_only_attempts_on_lambda_with_a_known_end_count(cost, attempt):
    attempt(0, 1, "on lambda")
    attempt(0, 1, None)
    attempt(0, 1, "resident", memory_mb=None)
    attempt(0, 1, "died", outcome="lapsed")

    assert cost()["kinds"][0]["attempts"] == 1


def test_month_has_its_limits_in_utc(cost, attempt):
    attempt(0, 0, "first")
    attempt(0, 59, "last", day="2020-02-29T23:59:")
    attempt(0, 0, "next", day="2020-03-01T00:00:")
    attempt(0, 59, "before", day="2020-01-31T23:59:")

    found = cost()

    assert found["kinds"][0]["attempts"] == 2
    assert (found["month"], found["until"]) == ("2020-02", "2020-03-01T00:00:00+00:00")


def test_overhead_and_cold_starts_are_added_to_each_invocation(cost, attempt):
    attempt(0, 1, "a")
    attempt(2, 3, "b")

    (mail,) = cost(prices="[functions]\ncold_share = 0.5\ninit_ms = 300\n[minute]\noverhead_ms = 10\n")[
        "kinds"
    ]

    assert mail["gb_seconds"] == pytest.approx(2 * (1.010 + 0.5 * 0.3))


def test_idle_month_costs_the_dispatcher_in_each_mode(cost):
    found = {each["name"]: each for each in cost()["alternatives"]}
    tick, wakeup = (1.2e-6 + seconds * 0.5 * 1.33334e-5 for seconds in (0.15, 0.2))

    assert found["minutehand, mode minute"]["idle"] == pytest.approx(29 * 1440 * tick)
    assert found["minutehand, mode minute"]["dollars"] == pytest.approx(29 * 1440 * tick)
    assert found["minutehand, mode sleep"]["idle"] == pytest.approx(29 * 4 * wakeup)
    assert found["minutehand, mode minute"]["database"] == pytest.approx(29 * 24 * 0.06)
    assert found["minutehand, mode sleep"]["database"] == pytest.approx(29 * 4 * 315 / 3600 * 0.06)
    assert found["SQS and Lambda"]["idle"] == pytest.approx(0.2628)
    assert found["Step Functions"] == {
        "name": "Step Functions",
        "dollars": 0.0,
        "idle": 0.0,
        "database": None,
    }


def test_dispatcher_costs_what_its_invocations_recorded(cost, direct_database):
    with psycopg.connect(direct_database.admin_url, autocommit=True) as connection:
        connection.execute(
            """insert into minutehand.dispatcher_usage
               values ('2020-02-01', 'prompt', 1024, 10, 8, 1, 5000, 3000, '2020-02-01', 50, 1)"""
        )
    modes = "[prompt]\ntick_overhead_ms = 10\ntick_ms = 50\n[sleep]\ntick_overhead_ms = 20\ntick_ms = 90\n"
    found = cost("--mode", "prompt", prices=f"[functions]\ninit_ms = 400\n{modes}")
    # The recorded tick of 200 ms, what ticks of the mode sleep take longer, and their overhead.
    second, tick = 1.33334e-5, 1.2e-6 + 0.26 * 1.33334e-5

    assert found["dispatcher"] == pytest.approx(
        {
            "recorded": True,
            "invocations": 10,
            "scheduled": 8,
            "gb_seconds": 5.5,
            "dollars": 5.5 * second + 10e-6,
        }
    )
    own, _, sleep, *_ = found["alternatives"]
    assert own["dollars"] == found["total"]
    assert sleep["idle"] == pytest.approx(29 * 4 * tick)


def test_mode_and_architecture_change_the_total(cost, attempt):
    attempt(0, 1, "a")

    assert cost("--mode", "sleep")["alternatives"][0]["name"] == "minutehand, mode sleep"
    assert cost("--mode", "sleep")["total"] < cost()["total"]
    assert cost("--architecture", "x86_64")["work"] == pytest.approx(1.66667e-5 + 0.2e-6)


def test_other_services_cost_their_requests_for_each_job(cost, invoke, direct_database):
    for _ in range(4):
        invoke("enqueue", "echo", "--in", "40m")
    with psycopg.connect(direct_database.url, autocommit=True) as connection:
        connection.execute(
            """update minutehand.jobs set deleted = '2020-02-02', failed = false, attempts = 1,
                      enqueued = '2020-02-01T10:00Z', run_at = '2020-02-01T10:40Z'"""
        )
    found = cost()
    dollars = {each["name"]: each["dollars"] for each in found["alternatives"]}

    assert (found["jobs"], found["per_million"]) == (4, 0)
    # Three delays of 15 minutes: two are forwarded.
    assert dollars["SQS and Lambda"] == pytest.approx(4 * (0.4e-6 + 2 * (3 * 0.4e-6 + 0.2e-6)))
    assert dollars["EventBridge Scheduler"] == pytest.approx(4e-6)
    assert dollars["Step Functions"] == pytest.approx(4 * 75e-6)


def test_table_fits_80_columns_and_shows_an_empty_month(invoke, attempt):
    empty = invoke("cost", "--month", "2020-01")
    attempt(0, 1, "a", "customers.monthly_invoice")
    shown = invoke("cost", "--month", "2020-02")

    assert "No attempts on Lambda are stored for this month." in empty.stderr
    assert empty.exit_code == shown.exit_code == 0
    assert "customers.monthly_invoice" in shown.stdout
    assert "prices of 2026-10-02 in us-east-1, arm64." in shown.stderr
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert invoke("cost").exit_code == 0


@pytest.mark.parametrize(
    ("month", "message"),
    [
        ("2020-13", "the month must be a year and a month, such as 2026-11, got '2020-13'"),
        ("yesterday", "the month must be a year and a month"),
        ("9998-01", "the month must not be in the future, got 9998-01"),
    ],
)
def test_month_that_cannot_be_reported_is_rejected(invoke, month, message):
    result = invoke("cost", "--month", month)

    assert (result.exit_code, message in result.stderr) == (2, True)


def test_printed_prices_are_accepted_unchanged(invoke, tmp_path):
    (tmp_path / "prices.toml").write_text(invoke("cost", "--print-prices").stdout)

    assert read_prices(tmp_path / "prices.toml") == read_prices()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[lamda]", "unknown section lamda; did you mean 'lambda'?"),
        ("[lambda]\nrequests = 1", "unknown value lambda.requests; did you mean 'request'?"),
        ("[lambda]\nrequest = -1", "lambda.request in .* must be a number from 0, got -1"),
        ("[lambda]\nrequest = nan", "must be a number from 0, got nan"),
        ("[lambda]\nrequest = true", "must be a number from 0, got True"),
        ("lambda = 3", r"must be a section, such as \[lambda\]"),
        ("dated = 'today'", "dated in .* must be a date"),
        ("region = 3", "region in .* must be a text"),
        ("[[", "must be TOML"),
    ],
)
def test_invalid_prices_are_rejected(tmp_path, text, message):
    (tmp_path / "prices.toml").write_text(text)

    with pytest.raises(ConfigurationError, match=message):
        read_prices(tmp_path / "prices.toml")


def test_missing_file_of_prices_is_rejected(invoke, tmp_path):
    result = invoke("cost", "--prices", str(tmp_path / "none.toml"))

    assert result.exit_code == 2
    assert "cannot be read: No such file or directory" in result.stderr


def test_every_price_has_a_source_and_a_date(invoke):
    text = invoke("cost", "--print-prices").stdout
    sections = tomllib.loads(text).keys() - {"dated", "region", "functions", "minute", "prompt", "sleep"}

    assert len(re.findall(r"^# https://aws\.amazon\.com/.*\n(?:#.*\n)*\[", text, re.MULTILINE)) == len(
        sections
    )
