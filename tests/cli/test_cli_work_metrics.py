"""The metrics of `minutehand work`, scraped from real workers."""

import math
import socket
import sys
from contextlib import closing
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
import urllib3
from prometheus_client.parser import text_string_to_metric_families

from minutehand import Database, NewJob, enqueue_many
from minutehand.metrics.table import METRICS, OF_A_JOB
from tests.ports import free_port
from tests.waiting import until

JOBS = 6


@pytest.fixture
def port() -> int:
    """A free port, after which another one is free."""
    return free_port(further=1)


def scrape(port):
    """Return the samples at a port by name and labels; none while nothing listens."""
    try:
        answer = urllib3.request("GET", f"http://127.0.0.1:{port}/metrics", retries=False, timeout=30)
    except urllib3.exceptions.HTTPError:
        return {}
    assert answer.status == 200
    return {
        (sample.name, *(sample.labels[name] for name in OF_A_JOB if name in sample.labels)): sample.value
        for family in text_string_to_metric_families(answer.data.decode())
        for sample in family.samples
    }


def is_measured(port):
    """Whether a worker has measured the database; the other one may run all jobs before."""
    return not math.isnan(scrape(port).get(("minutehand_connections_percent",), math.nan))


def test_workers_serve_their_metrics_to_this_machine_only(popen, direct_database, tmp_path, port):
    (tmp_path / "quick.py").write_text("def handle(payload): return payload")
    with closing(Database(direct_database.url)) as database:
        assert len([*enqueue_many([NewJob("quick", queue="mail")] * JOBS, connection=database)]) == JOBS
    options = ["--processes", "2", "--metrics-port", str(port), "--handlers", str(tmp_path), "--chunk", "1"]
    crew = popen("work", *options, url=direct_database.url)

    ports = (port, port + 1)
    taken = ("minutehand_taken_total",)
    until(lambda: all(map(is_measured, ports)) and sum(scrape(each)[taken] for each in ports) == JOBS)
    found = [*map(scrape, ports)]

    assert sum(each.get(("minutehand_done_total", "mail", "quick"), 0) for each in found) == JOBS
    assert sum(each.get(("minutehand_ran_ms_count", "mail", "quick"), 0) for each in found) == JOBS
    assert all(each["minutehand_failed_steps_total",] == 0 for each in found)
    assert all(0 <= each["minutehand_connections_percent",] <= 100 for each in found)
    assert all(math.isnan(each["minutehand_throttled",]) for each in found), "Only the dispatcher knows it."
    assert {f"minutehand_{name}" for name in METRICS} <= families(port)
    listening = [
        connection.laddr
        for worker in psutil.Process(crew.pid).children()
        for connection in worker.net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert sorted(listening) == [("127.0.0.1", port), ("127.0.0.1", port + 1)]
    crew.terminate()
    assert crew.wait(180) == 0


def families(port):
    text = urllib3.request("GET", f"http://127.0.0.1:{port}/metrics").data.decode()
    return {family.name for family in text_string_to_metric_families(text)}


def test_port_in_use_is_a_usage_error(execute, direct_database, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = execute(
            "work",
            "--drain",
            "--handlers",
            str(tmp_path),
            "--metrics-port",
            str(port),
            url=direct_database.url,
        )

    assert done.returncode == 2
    assert f"127.0.0.1:{port} cannot be used".encode() in done.stderr


def test_missing_client_of_prometheus_is_a_usage_error(execute, direct_database, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "minutehand.cli.prometheus", raising=False)

    done = execute(
        "work", "--drain", "--handlers", str(tmp_path), "--metrics-port", "9464", url=direct_database.url
    )

    assert done.returncode == 2
    assert b"run: pip install 'minutehand[prometheus]'" in done.stderr


def test_address_of_ipv6_is_a_valid_one(execute, direct_database, port, tmp_path):
    options = ["--metrics-host", "::1", "--metrics-port", str(port)]
    done = execute("work", "--drain", "--handlers", str(tmp_path), *options, url=direct_database.url)

    assert f"metrics at http://[::1]:{port}/metrics".encode() in done.stderr


def test_ports_of_all_processes_must_exist(execute, direct_database, tmp_path):
    options = ["--handlers", str(tmp_path), "--processes", "3", "--metrics-port", "65534"]
    done = execute("work", *options, url=direct_database.url)

    assert done.returncode == 2
    assert b"3 processes need ports up to 65536, but the highest is 65535" in done.stderr


def test_port_in_use_starts_no_process(execute, direct_database, port, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port + 1))
        taken.listen()
        options = ["--processes", "2", "--metrics-port", str(port), "--drain"]
        done = execute("work", "--handlers", str(tmp_path), *options, url=direct_database.url)

    assert done.returncode == 2
    assert f"127.0.0.1:{port + 1} cannot be used".encode() in done.stderr
    assert b"working on" not in done.stderr


def test_gauges_are_unknown_without_a_database(popen, new_database, direct_database, port):
    database = new_database()
    gauge = ("minutehand_due",)
    worker = popen("work", "--metrics-port", str(port), url=database.url)
    until(lambda: scrape(port).get(gauge) == 0)
    with psycopg.connect(direct_database.admin_url, autocommit=True) as connection:
        name = urlsplit(database.admin_url).path[1:]
        connection.execute(f'alter database "{name}" allow_connections false')
        connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name]
        )
    until(lambda: math.isnan(scrape(port)[gauge]))
    worker.terminate()

    assert worker.wait(180) == 0
